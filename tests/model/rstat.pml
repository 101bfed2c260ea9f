/* SPDX-License-Identifier: MIT */
/*
 * Marks, collections and flushes of statistics (src/stat/rstat.c, add.c), in small.
 *
 * One index, a root and a child, blocks in one stripe: a word of bits for the blocks, one bit above it. Two
 * threads count, on that index both: each may be stopped anywhere while the other goes on, as handlers and
 * preempted threads are. A sequence reads dead, mark and epoch, then commits, unless a fence came
 * between; what it commits is seen at once.
 *
 * One scenario a run:
 *   FLUSH  both count for the child, one of them for the root too, beside a flush of the root
 *   DEATH  both count for the child, while it dies, and its block is given to another
 *
 * Checked:
 *   least   R1: what had returned before a flush began is in it
 *   exact   R2: a last flush has every count once
 *   reused  the block of a dead group stays as it was when it was given to another
 *
 * Faults to plant, one of them by -D:
 *   EPOCH_FIRST         the epoch moves on before the bits are taken
 *   MARK_FIRST          the block's mark is set before the bits
 *   BOTTOM_UP           the bit below is taken before the one above
 *   NO_FENCE            no fence
 *   CHILD_AFTER_PARENT  the parent's turn comes before the child's
 *   NO_DEAD_CHECK       the sequence does not look whether the group is dead
 *   NO_GRACE            retirement does not wait for those that chose the group before
 *
 * Not here: reports of what is due, several indices (they share nothing but the epoch), store buffers (the fence
 * empties them), the portable form.
 */
#define ROOT  0
#define CHILD 1

byte bits;        /* of blocks */
bool above;       /* the stripe has bits */
byte epoch = 1;
byte mark[2], value[2], flushed[2], state[2], pending;
bool linked[2];
bool dead;        /* the child */
bool in[2], hit[2]; /* a thread's sequence: under way, fenced */
bool reading[2];  /* a thread's read section */
byte returned;    /* counts whose call has returned */
byte running = 2;

#ifdef MARK_FIRST
#define MARK_EARLY mark[at] = seen
#else
#define MARK_EARLY skip
#endif
#ifdef NO_DEAD_CHECK
#define DEAD_HERE false
#else
#define DEAD_HERE (at == CHILD && dead)
#endif

/* One call: a count for group @g. */
inline count(g) {
	at = g;
	do
	:: true ->
		/* The sequence. */
		d_step { in[me] = true; hit[me] = false };
		if
		:: DEAD_HERE || mark[at] != epoch -> in[me] = false
		:: else ->
			if
			:: d_step { !hit[me] -> value[at]++; in[me] = false; returned++ } -> break
			:: d_step { hit[me] -> in[me] = false }
			fi
		fi;
		/* Again, in a read section: the living group, its mark, then the sequence. */
		reading[me] = true;
		if
		:: at == CHILD && dead -> at = ROOT
		:: else
		fi;
		seen = epoch;
		MARK_EARLY;
		if
		:: (bits & (1 << at)) == 0 -> bits = bits | (1 << at)
		:: else
		fi;
		if
		:: !above -> above = true
		:: else
		fi;
		mark[at] = seen;
		d_step { in[me] = true; hit[me] = false };
		if
		:: mark[at] != epoch -> in[me] = false
		:: else ->
			if
			:: d_step { !hit[me] -> value[at]++; in[me] = false; returned++ } ->
				reading[me] = false;
				break
			:: d_step { hit[me] -> in[me] = false }
			fi
		fi;
		reading[me] = false
	od
}

inline link() {
	d_step {
		linked[ROOT] = linked[ROOT] || taken != 0;
		linked[CHILD] = linked[CHILD] || (taken & (1 << CHILD)) != 0;
		taken = 0
	}
}

inline take() {
#ifdef BOTTOM_UP
	d_step { taken = bits; bits = 0 };
	d_step { top = above; above = false };
	taken = (top -> taken : 0);
#else
	d_step { top = above; above = false };
	if
	:: top -> d_step { taken = bits; bits = 0 }
	:: else
	fi;
#endif
	link()
}

inline fence() {
#ifndef NO_FENCE
	hit[0] = true;
	hit[1] = true
#else
	skip
#endif
}

inline collect() {
#ifdef EPOCH_FIRST
	epoch++;
	take();
#else
	take();
	epoch++;
#endif
	fence()
}

inline flush_child() {
	if
	:: linked[CHILD] ->
		delta = value[CHILD] - flushed[CHILD];
		flushed[CHILD] = flushed[CHILD] + delta;
		state[CHILD] = state[CHILD] + delta;
		pending = pending + delta;
		linked[CHILD] = false
	:: else
	fi
}

inline flush_root() {
	if
	:: linked[ROOT] ->
		delta = value[ROOT] - flushed[ROOT];
		flushed[ROOT] = flushed[ROOT] + delta;
		state[ROOT] = state[ROOT] + delta + pending;
		pending = 0;
		linked[ROOT] = false
	:: else
	fi
}

inline flush() {
	collect();
#ifdef CHILD_AFTER_PARENT
	flush_root();
	flush_child()
#else
	flush_child();
	flush_root()
#endif
}

proctype thread(byte me) {
	byte at, seen;

	count(CHILD);
#ifdef FLUSH
	if
	:: me == 0 -> count(ROOT)
	:: else
	fi;
#else
	count(CHILD);
#endif
	running--
}

init {
	byte taken, delta, least;
	bool top;

	atomic {
		run thread(0);
		run thread(1)
	};
#ifdef FLUSH
	least = returned;
	flush();
	assert(state[ROOT] >= least);
#endif
#ifdef DEATH
	dead = true;
#ifndef NO_GRACE
	!reading[0];
	!reading[1];
#endif
	collect();
	flush_child();
	d_step { value[CHILD] = 0; flushed[CHILD] = 0; mark[CHILD] = epoch }; /* its new owner has marked it */
	least = returned;
	flush_root();
#endif
	running == 0;
#ifdef DEATH
	byte reused = value[CHILD];
	assert(reused == 0);
#endif
	flush();
	byte exact = returned;
	assert(state[ROOT] == exact)
}
