/* SPDX-License-Identifier: MIT */
/*
 * The page stock and its drains (src/charge/stock_word.c, drain.c, try_charge.c), in small.
 *
 * Two CPUs, each with one slot: a word of owner and held pages, with room for ROOM. Two groups
 * A and B below one limited level. A thread may be on any CPU whenever it reads its index, may
 * lose a sequence at any moment, and does lose it when another thread begins one on the same CPU
 * or a fence reaches it. So all schedules of threads over CPUs are covered without a scheduler.
 * A
 * commit succeeds only if the word is what was read before, and may fail for no reason: so that it is read
 * where the sequence begins loses no behaviour.
 *
 * One scenario a run, in one form of the commit (restartable sequence; or PORTABLE: gate,
 * then compare-and-exchange, and a grace period as the fence):
 *   PRESSURE  two workers, a may-sleep charge
 *   CLIMB     a worker, a may-sleep charge, a climb that a level above refuses
 *   SLEEPERS  a worker, two may-sleep charges
 *   DYING     two workers that hold pages of A, which is destroyed, drained and freed
 *   IDLE      two workers, and the drain of idle CPUs, which takes from living groups
 *   LOWER     two workers, and a limit, hence the room it allows, that is lowered
 *
 * Checked whenever a word changes:
 *   A1    usage = live + in slots + in hand + undecided, nothing is lost or made; all gone at the end
 *   A2    room that slots have was reserved before, and is at most what is allowed
 *   A3    usage <= limit
 *   A6    a may-sleep charge is refused only if live + n > limit at an instant of the
 *         call; live is what decided charges hold
 *   G1    while the level is clean no slot holds anything and no page of stock is in hand; after
 *         its drain no slot belongs to a dying group
 *   D1    no slow section touches a group that is freed, no slot has its number then
 *
 * Faults to plant, one of them by -D:
 *   NO_FENCE, EARLY_REOPEN, NO_GRACE
 *   NOT_AWAY        the fast path goes on while a drain works
 *   ASK_FIRST       permission is asked before the gate is read
 *   NO_DYING_CHECK, NO_PRESSURE_CHECK
 *   VICTIM_REREAD   the commit expects a second look at the victim
 *   TOUCH_LATE      an area is marked as used after permission was asked
 *   TAKE_OPEN       a drain takes from areas that it did not close
 *   NO_MARK         undecided climbs are not counted
 *   FREE_AT_ONCE    no grace period before memory goes
 *   ROOM_LATE       room is reserved after the commit
 *   ROOM_STALE      room is compared with a limit that was read before
 *   PLACE_LINGERING a placement does not ask whether pressure lingers
 *   END_HELD        a placement ends pressure that is held
 *
 * Not here: orders weaker than sequential consistency, growth of slots and the budget, byte slots, fork,
 * a fence that the kernel refuses.
 */
#define NONE 0
#define A    1
#define B    2

#ifdef SLEEPERS
#define NR_SLEEPERS 2
#else
#define NR_SLEEPERS 1
#endif

#ifndef OPS
#define OPS 2 /* charges and uncharges of a worker */
#endif
#ifndef LIMIT
#define LIMIT 4
#endif
#ifndef ASK
#define ASK 2 /* pages of a may-sleep charge; as one larger than a slot, it looks into none */
#endif
#define ROOM  2 /* pages that a slot may hold; a batch */
#define LOW   1 /* to where a full slot falls */
#define ROOMS 4 /* pages of room that the limit allows at first */

#ifdef ROOM_STALE
#define ROOM_ALLOWED old
#else
#define ROOM_ALLOWED allowed
#endif

/* Areas. */
byte owner[2], held[2]; /* the slot's word; NONE: empty */
byte gate[2];           /* even: open */
byte sec[2];            /* thread in a sequence on this CPU, 0: none */
bool touched[2];        /* a drain looks here */
bool away;              /* the fast path is led to areas without slots */

/* The level; the own level of A. */
byte usage, climbs, room, allowed = ROOMS;
byte pressure; /* holders */
bool clean;    /* it lasts since a drain and a grace period: needs no other; alone it lingers */
byte usage_a;
bool dying, drained, freed;
bool lowered;

bool drain_lock;
byte inside;   /* threads in a slow section, a bit each */
byte waits[2]; /* two grace periods: whom they wait for */

/* What the checks need to know. */
byte live;      /* pages of callers, from when a charge is decided until its page is in slot or counter again */
byte loose;     /* pages of stock in some thread's hand */
byte undecided; /* pages of climbs that are not decided */
byte asking[NR_SLEEPERS];
bool justified[NR_SLEEPERS];
byte running;

#define placed      ((owner[0] != NONE) + (owner[1] != NONE))
#define slots_of(g) ((owner[0] == g) + (owner[1] == g))

#define JUSTIFIES(i) justified[i] = justified[i] || (asking[i] > 0 && live + asking[i] > LIMIT)
#ifdef SLEEPERS
#define JUSTIFY JUSTIFIES(0); JUSTIFIES(1)
#else
#define JUSTIFY JUSTIFIES(0)
#endif

#ifdef ASSUME_G1
#define G1
#else
#define G1                                             \
	assert(!clean || (placed == 0 && loose == 0)); \
	assert(!drained || slots_of(A) == 0)
#endif

#define CHECK                                                              \
	JUSTIFY;                                                           \
	assert(usage == live + held[0] + held[1] + loose + undecided);     \
	assert(usage <= LIMIT);                                            \
	assert(room >= ROOM * placed);                                     \
	assert(!lowered || ROOM * placed <= allowed);                      \
	G1

#define BIT (1 << me)

inline leave() {
	d_step {
		inside = inside & ~BIT;
		waits[0] = waits[0] & ~BIT;
		waits[1] = waits[1] & ~BIT
	}
}

inline grace(w) {
	waits[w] = inside;
	waits[w] == 0
}

#ifdef PORTABLE
#define HOLDS (owner[c] == wo && held[c] == wh)
#else
#define HOLDS (sec[c] == me)
#endif

/*
 * The commit. Where @here0 (CPU 0) or @here1 allows it the sequence begins, with the word read, and puts
 * (@o, @h) in its place. @user more pages are live then and @hand more in hand. ok: it was done.
 * What is left over in locals goes at once, because each value of it would be a state; @keep: but not the old word.
 */
inline commit(here0, here1, o, h, user, hand, keep) {
	if
	:: d_step {
		here0 -> c = 0;
		wo = owner[0];
		wh = held[0];
		sec[0] = me;
		ok = true
	   }
	:: d_step {
		here1 -> c = 1;
		wo = owner[1];
		wh = held[1];
		sec[1] = me;
		ok = true
	   }
	:: ok = false /* elsewhere, interrupted, or the gate has moved */
	fi;
	d_step {
		if
		:: ok && HOLDS ->
			owner[c] = o;
			held[c] = h;
			live = live + user;
			loose = loose + hand;
			CHECK
		:: else -> ok = false
		fi;
		if
		:: sec[c] == me -> sec[c] = 0
		:: else
		fi;
		c = 0;
		g0 = 0;
		wo = (ok -> wo * keep : 0);
		wh = (ok -> wh * keep : 0)
	}
}

/* @n pages in hand, of which the caller's @user, go from @g to the counters: its own, then those above. */
inline to_counters(g, n, user) {
#ifdef DYING
	if
	:: g == A ->
		d_step {
			assert(!freed);
			usage_a = usage_a - (n)
		}
	:: else
	fi;
#endif
	d_step {
		assert(!(g == A && freed));
		usage = usage - (n);
		live = live - user;
		loose = loose - ((n) - user);
		CHECK
	}
}

inline return_room(g) {
	d_step {
		assert(!(g == A && freed));
		room = room - ROOM
	}
}

/* (wo, wh) is out of its slot. */
inline settle() {
	if
	:: wh > 0 -> to_counters(wo, wh, 0)
	:: else
	fi;
	return_room(wo);
	d_step {
		wo = 0;
		wh = 0
	}
}

/* What only lingers ends here or not. */
inline expire() {
	if
#ifdef END_HELD
	:: d_step { clean -> clean = false; pressure = 0 }
#else
	:: d_step { pressure == 0 && clean -> clean = false }
#endif
	:: true
	fi
}

/*
 * May g have a slot? ok, and then the room is reserved. The limit is looked at after the room
 * was added: who lowers it without a drain has seen no room.
 */
inline permission() {
#if defined(DYING) && !defined(NO_DYING_CHECK)
	ok = !(g == A && dying);
#else
	ok = true;
#endif
	expire();
#if defined(PLACE_LINGERING)
	ok = ok && pressure == 0;
#elif !defined(NO_PRESSURE_CHECK)
	ok = ok && pressure == 0 && !clean;
#endif
#ifdef ROOM_STALE
	old = allowed;
#endif
	d_step {
		ok = ok && room + ROOM <= ROOM_ALLOWED;
#ifndef ROOM_LATE
		room = room + (ok -> ROOM : 0)
#endif
	}
}

inline read_gate() {
	if
	:: d_step { c = 0; g0 = gate[0] & 254 }
	:: d_step { c = 1; g0 = gate[1] & 254 }
	fi
}

inline touch() {
	if
	:: !touched[c] -> touched[c] = true
	:: else
	fi
}

#ifdef VICTIM_REREAD
/* What is settled was read some time before what the commit expects. */
#define NOTE_VICTIM d_step { vo = owner[c]; vh = held[c] }
#define SETTLED     d_step { wo = vo; wh = vh; vo = 0; vh = 0 }
#else
#define NOTE_VICTIM skip
#define SETTLED     skip
#endif

/* ok: g has a new slot, empty, on some CPU. */
inline place() {
#ifdef ASK_FIRST
	permission();
	if
	:: ok -> read_gate(); touch()
	:: else
	fi;
#else
	read_gate();
#ifndef TOUCH_LATE
	touch();
#endif
	permission();
#ifdef TOUCH_LATE
	touch();
#endif
#endif
	if
	:: ok ->
		NOTE_VICTIM;
		commit((c == 0 && gate[0] == g0), (c == 1 && gate[1] == g0), g, 0, 0, (wo == NONE -> 0 : wh), 1);
		SETTLED;
#ifdef ROOM_LATE
		room = room + (ok -> ROOM : 0);
#endif
		if
		:: ok && wo != NONE -> settle()
		:: ok && wo == NONE
#ifdef ROOM_LATE
		:: !ok
#else
		:: !ok -> return_room(NONE)
#endif
		fi
	:: else ->
		d_step {
			c = 0;
			g0 = 0
		}
	fi
}

/* The slow path looks at the gate, the fast path is led away. */
#define GATE(i) ((gate[i] & 1) == 0)
#ifdef PORTABLE
#define FAST(i) GATE(i)
#else
#define FAST(i) (!away)
#endif

#define CONSUME(i, open) (owner[i] == g && held[i] > 0 && open(i))
#define REFILL(i, open)  (owner[i] == g && held[i] < ROOM && open(i))
#define TRIM(i, open)    (owner[i] == g && held[i] == ROOM && open(i))

/* A page in hand of g: to a slot or a counter. @user is 1 when it is the caller's, and live till then. */
inline stock_return(user) {
	do
	:: owner[0] == g || owner[1] == g ->
	   commit(REFILL(0, GATE), REFILL(1, GATE), g, wh + 1, -user, user - 1, 0);
	   if
	   :: ok -> break
	   :: else
	   fi
	:: owner[0] == g || owner[1] == g ->
	   commit(TRIM(0, GATE), TRIM(1, GATE), g, LOW, -user, ROOM - LOW + user, 0);
	   if
	   :: ok -> to_counters(g, ROOM - LOW + 1, 0); break
	   :: else
	   fi
	:: owner[0] != g || owner[1] != g ->
	   place();
	   if
	   :: !ok -> to_counters(g, 1, user); break
	   :: else
	   fi
	:: to_counters(g, 1, user); break /* the attempts are used up */
	od
}

/* @n pages for g from the counters, one of them the caller's. No level above refuses. */
inline from_counters(n) {
	d_step {
		ok = usage + n <= LIMIT;
		if
		:: ok ->
			usage = usage + n;
			usage_a = usage_a + (g == A -> n : 0);
			live = live + 1;
			loose = loose + n - 1;
			CHECK
		:: else
		fi
	}
}

/* A page for g. */
inline charge() {
	commit(CONSUME(0, FAST), CONSUME(1, FAST), g, wh - 1, 1, 0, 0);
	if
	:: ok -> mine = g
	:: else ->
		inside = inside | BIT;
		if
		:: owner[0] == g || owner[1] == g ->
			commit(CONSUME(0, GATE), CONSUME(1, GATE), g, wh - 1, 1, 0, 0);
			mine = (ok -> g : NONE);
			ok = true
		:: owner[0] != g || owner[1] != g -> place()
		fi;
		if
		:: ok && mine != g ->
			from_counters(ROOM);
			if
			:: ok -> mine = g; stock_return(0)
			:: else
			fi
		:: else
		fi;
		if
		:: mine != g ->
			from_counters(1);
			mine = (ok -> g : NONE)
		:: else
		fi;
		leave()
	fi
}

/* The page that the worker has. */
inline uncharge() {
	g = mine;
	mine = NONE;
	commit(REFILL(0, FAST), REFILL(1, FAST), g, wh + 1, -1, 0, 0);
	if
	:: ok
	:: else ->
		inside = inside | BIT;
		stock_return(1);
		leave()
	fi
}

proctype Worker(byte me; byte first; byte mine) {
	byte g, c, wo, wh, g0, op;
	bool ok;
#ifdef VICTIM_REREAD
	byte vo, vh;
#endif
#ifdef ROOM_STALE
	byte old;
#endif

	do
	:: op < OPS && mine != NONE ->
		op++;
		uncharge();
		d_step { g = 0; ok = 0 }
	:: op < OPS && mine == NONE ->
		op++;
		g = first;
		charge();
		d_step { g = 0; ok = 0 }
	:: op == OPS -> break
	od;
	running--
}

/* Drains. Close and fence are steps apart, for each all CPUs together: that one closes sooner only makes commits fail. */

inline close_gates() {
#ifndef NOT_AWAY
	away = true;
#endif
	d_step {
		gate[0] = gate[0] | touched[0];
		gate[1] = gate[1] | touched[1]
	}
}

inline open_gates() {
	d_step {
		gate[0] = gate[0] + (gate[0] & 1);
		gate[1] = gate[1] + (gate[1] & 1)
	}
	away = false
}

inline fence() {
#ifndef NO_FENCE
#ifdef PORTABLE
	grace(0)
#else
	d_step {
		sec[0] = 0;
		sec[1] = 0
	}
#endif
#else
	skip
#endif
}

/* What came into use after the gates were closed is left alone. */
#if defined(TAKE_OPEN) || defined(EARLY_REOPEN)
#define CLOSED(i) touched[i]
#else
#define CLOSED(i) (gate[i] & 1)
#endif
#define TAKES(i, which) (CLOSED(i) && owner[i] != NONE && (which == NONE || owner[i] == which))

inline take(i, which) {
	d_step {
		wo = NONE;
		wh = 0;
		if
		:: TAKES(i, which) ->
			wo = owner[i];
			wh = held[i];
			owner[i] = NONE;
			held[i] = 0;
			loose = loose + wh;
			CHECK
		:: else
		fi
	}
	if
	:: wo != NONE -> settle()
	:: else
	fi
}

/* Stock of @which, NONE: of all. Drain lock. */
inline drain(which) {
	close_gates();
#ifdef EARLY_REOPEN
	open_gates();
#endif
	fence();
	take(0, which);
	take(1, which);
	open_gates()
}

inline lock() {
	atomic {
		!drain_lock -> drain_lock = true
	}
}

inline unlock() {
	drain_lock = false
}

inline pressure_begin() {
	d_step {
		pressure++;
		ok = clean
	}
	if
	:: !ok ->
		lock();
		if
		:: !clean ->
			drain(NONE);
#ifndef NO_GRACE
			grace(0);
#endif
			d_step {
				clean = true;
				CHECK
			}
		:: else
		fi;
		unlock()
	:: else
	fi;
	ok = false
}

/* It may linger, or not. */
inline pressure_end() {
	d_step {
#ifndef END_HELD
		assert(pressure > 0);
#endif
		pressure = pressure - (pressure > 0)
	}
	expire()
}

#if defined(PRESSURE) || defined(CLIMB) || defined(SLEEPERS)
/* A charge that may sleep. */
proctype Sleeper(byte me; byte i) {
	byte wo, wh;
	bool ok, wrong, pressed;

	d_step {
		asking[i] = ASK;
		JUSTIFY
	}
	do
	:: true ->
		/* The climb is one exchange: its section holds nothing. */
		d_step {
			ok = usage + ASK <= LIMIT;
			wrong = climbs > 0;
			if
			:: ok ->
				asking[i] = 0;
				usage = usage + ASK;
				live = live + ASK;
				CHECK
			:: else
			fi
		}
		if
		:: ok -> break
		:: !ok && !pressed -> pressed = true; pressure_begin()
		:: !ok && pressed && wrong
		:: !ok && pressed && !wrong ->
			assert(justified[i]);
			break
		fi
	od;
	asking[i] = 0;
	if
	:: pressed -> pressure_end()
	:: else
	fi;
	running--
}
#endif

#ifdef CLIMB
/* Twice a climb that gets past the level, and no further. */
proctype Climber(byte me) {
	byte mark, n;
	bool ok;

	do
	:: n < 2 ->
		n++;
		atomic {
			inside = inside | BIT;
#ifndef NO_MARK
			mark = pressure > 0 || clean
#endif
		}
		d_step {
			ok = usage + 1 <= LIMIT;
			if
			:: ok ->
				usage++;
				undecided++;
				climbs = climbs + mark;
				CHECK
			:: else
			fi
		}
		if
		:: ok ->
			d_step {
				usage--;
				undecided--;
				climbs = climbs - mark;
				CHECK
			}
		:: else
		fi;
		leave()
	:: else -> break
	od;
	running--
}
#endif

#ifdef DYING
/* The end of A. */
proctype House(byte me) {
	byte wo, wh;

	dying = true;
	lock();
	drain(A);
	d_step {
		drained = true;
		CHECK
	}
	unlock();
#ifndef NO_GRACE
	grace(1);
#endif
	/* The reference is gone: what makes its own level empty pushes it. */
	usage_a == 0;
#if !defined(FREE_AT_ONCE) && !defined(NO_GRACE)
	grace(1);
#endif
	d_step {
		freed = true;
		assert(slots_of(A) == 0)
	}
	running--
}
#endif

#ifdef IDLE
proctype Idle(byte me) {
	byte wo, wh;

	lock();
	drain(NONE);
	unlock();
	running--
}
#endif

#ifdef LOWER
/* As a write to memory.max: without reserved room there is nothing to drain. */
proctype Lower(byte me) {
	byte wo, wh;
	bool ok;

	allowed = 0;
	if
	:: room > 0 -> pressure_begin(); pressure_end()
	:: else
	fi;
	lowered = true;
	assert(ROOM * placed <= allowed);
	running--
}
#endif

/* What is left, taken when nothing else runs. */
proctype Last(byte me) {
	byte wo, wh;

	atomic {
		running == 0;
		assert(room <= allowed);
		drain(NONE);
		assert(usage == live && loose == 0 && undecided == 0);
		assert(room == 0 && climbs == 0 && pressure == 0 && placed == 0)
	}
}

init {
	atomic {
		touched[0] = true;
#ifdef DYING
		usage = 2;
		usage_a = 2;
		live = 2;
		run Worker(1, B, A);
		run Worker(2, B, A);
		run House(3);
		running = 3;
#endif
#ifdef PRESSURE
		run Worker(1, A, NONE);
		run Worker(2, B, NONE);
		run Sleeper(3, 0);
		running = 3;
#endif
#ifdef CLIMB
		run Worker(1, A, NONE);
		run Sleeper(2, 0);
		run Climber(3);
		running = 3;
#endif
#ifdef SLEEPERS
		run Worker(1, A, NONE);
		run Sleeper(2, 0);
		run Sleeper(3, 1);
		running = 3;
#endif
#ifdef IDLE
		run Worker(1, A, NONE);
		run Worker(2, B, NONE);
		run Idle(3);
		running = 3;
#endif
#ifdef LOWER
		run Worker(1, A, NONE);
		run Worker(2, B, NONE);
		run Lower(3);
		running = 3;
#endif
		run Last(7)
	}
}
