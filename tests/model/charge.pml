/* SPDX-License-Identifier: MIT */
/*
 * Climbs through two levels (src/counter/page_counter.c, charge/try_charge.c), in small.
 *
 * A word is usage | version | climbs, the version two bits. A climb loads the word, looks
 * whether it must be counted, loads the limit, and exchanges the word if it still is what it was;
 * then the level above. There is no stock: pressure is its mark and its grace period. It may last beyond its
 * last holder (linger) and end at any moment then.
 *
 * One scenario a run:
 *   HOPELESS  large charges that the upper level always refuses, a may-sleep charge that always
 *             fits, one page that comes and goes; the upper level holds pages of others
 *   TWO       the same large charges, two may-sleep charges
 *   FULL      three may-sleep charges of which two fit
 *   LOWERED   two chargers while the limit of the lower level is lowered till the version comes round
 *   CAPPED    large charges, a may-sleep charge, while an upper level without a limit gets one;
 *             another call may hold the lower level under pressure
 * In all but LOWERED pressure at the lower level may linger from the start.
 *
 * Checked:
 *   A3  no exchange of a try-charge stores a usage above the max that the level shows
 *   A4  at the end usage is what successful charges hold; a watermark is at most what
 *       a climb stored that succeeded
 *   A6  a may-sleep charge is refused only if live + n > limit was true at a level at an instant of
 *       the call. Live are charges that succeed, from the exchange of the level on: a refusal
 *       that only pages on their way explain is held against the next of them that is refused
 *       (in doubt)
 *
 * Faults to plant, one of them by -D:
 *   BACK_OFF       add, compare, take back
 *   NO_MARK        climbs are not counted
 *   NO_GRACE       pressure does not wait for those that are not counted
 *   NO_VERSION     a lowered limit leaves the version alone
 *   NO_WRAP_GRACE  versions come round without a grace period
 *   WRAP_ONCE      one grace period a round
 *   MAX_FIRST      a lowered limit is shown before it is obeyed
 *   EARLY_PEAK     watermarks are raised on the way up
 *   PEAK_READ      watermarks are raised to the usage that is read then
 *   MARK_LIMITED   climbs are counted only while a level above has a limit
 *   MARK_HELD      climbs are not counted while pressure only lingers
 * ASSUME_A3 leaves that check out, to see what else a fault does.
 *
 * Not here: forced charges, orders weaker than sequential consistency, a full count of climbs, the end of
 * waiting for an undecided climb.
 */
#define NO_LIMIT 30

#ifdef LOWERED
#define LIMIT_0 3
#define LIMIT_1 NO_LIMIT
#define OTHERS  0
#endif
#if defined(HOPELESS) || defined(TWO)
#define LIMIT_0 3
#define LIMIT_1 4
#define OTHERS  2 /* pages of others in the upper level */
#define LARGE   3
#endif
#ifdef FULL
#define LIMIT_0 NO_LIMIT
#define LIMIT_1 4
#define OTHERS  2
#endif
#ifdef CAPPED
#define LIMIT_0 3
#define LIMIT_1 NO_LIMIT
#define OTHERS  2
#define LARGE   3
#endif

/* usage * 16 | version * 4 | climbs */
#define PAGE      16
#define VERSION   4
#define VERSIONS  12
#define USAGE(w)  ((w) >> 4)
#define CLIMBS(w) ((w) & 3)

byte word[2], limit[2], max[2], watermark[2];
byte pressure[2]; /* holders */
bool clean[2];    /* it lasts since a grace period: needs no other; alone it lingers */
bool drain_lock;
byte inside, waits[2];

/* What the checks need to know; a may-sleep charge is of one page. */
byte live[2];
byte moving;  /* pages in the lower level of climbs that are not decided */
byte best[2];   /* highest usage that a successful climb stored */
byte asking;    /* may-sleep charges under way, a bit each */
byte justified; /* those that live pages alone explain a refusal of */
bool doubt;
byte running;

#define BIT     (1 << me)
#define OVER(l) (live[l] + 1 > limit[l])
#define JUSTIFY justified = (OVER(0) || OVER(1) -> justified | asking : justified)

#ifdef MARK_HELD
#define PRESSED(l) (pressure[l] > 0)
#else
#define PRESSED(l) (pressure[l] > 0 || clean[l])
#endif

/* Without a limit now, the level above may have one when the climb is there. */
#ifdef MARK_LIMITED
#define MAY_REFUSE_ABOVE (limit[1] != NO_LIMIT)
#else
#define MAY_REFUSE_ABOVE true
#endif

inline enter() {
	inside = inside | BIT
}

inline leave() {
	d_step {
		inside = inside & ~BIT;
		waits[0] = waits[0] & ~BIT;
		waits[1] = waits[1] & ~BIT
	}
}

inline grace(i) {
	waits[i] = inside;
	waits[i] == 0
}

#ifdef ASSUME_A3
#define A3(l)
#else
#define A3(l) assert(USAGE(word[l]) <= max[l])
#endif

#ifdef EARLY_PEAK
#define PEAK_ON_THE_WAY(l) watermark[l] = (stored[l] > watermark[l] -> stored[l] : watermark[l])
#else
#define PEAK_ON_THE_WAY(l)
#endif

/* Stores w with @n more at level @l. Past the upper one the charge is decided. */
#define STORE(l, n)                                                        \
	word[l] = w + n * PAGE + mark;                                     \
	stored[l] = USAGE(w) + n;                                          \
	A3(l);                                                             \
	PEAK_ON_THE_WAY(l);                                                \
	ok = true;                                                         \
	if                                                                 \
	:: l == 0 ->                                                       \
		moving = moving + n;                                       \
		marked = mark                                              \
	:: l == 1 ->                                                       \
		moving = moving - n;                                       \
		live[0] = live[0] + n;                                     \
		live[1] = live[1] + n;                                     \
		best[0] = (stored[0] > best[0] -> stored[0] : best[0]);    \
		best[1] = (stored[1] > best[1] -> stored[1] : best[1]);    \
		doubt = false;                                             \
		JUSTIFY                                                    \
	fi;                                                                \
	w = 0;                                                             \
	mark = 0;                                                          \
	old = 0

#define REFUSED(l)                                                         \
	ok = false;                                                        \
	at = l;                                                            \
	wrong = CLIMBS(w) > 0;                                             \
	w = 0;                                                             \
	mark = 0;                                                          \
	old = 0

/* ok, or refused at level @l; wrong: climbs are under way there. */
inline try_level(l, n) {
#ifdef BACK_OFF
	d_step {
		w = word[l];
		word[l] = w + n * PAGE;
		A3(l)
	}
	d_step {
		if
		:: USAGE(word[l]) > limit[l] ->
			word[l] = word[l] - n * PAGE;
			w = word[l];
			REFUSED(l)
		:: else ->
			w = word[l] - n * PAGE;
			STORE(l, n)
		fi
	}
#else
	w = word[l];
#ifndef NO_MARK
	mark = (l == 0 && PRESSED(l) && MAY_REFUSE_ABOVE);
#endif
	do
	:: true ->
		old = limit[l];
		d_step {
			again = false;
			if
			:: USAGE(w) + n > old -> REFUSED(l)
			:: USAGE(w) + n <= old && word[l] == w -> STORE(l, n)
			:: USAGE(w) + n <= old && word[l] != w ->
				w = word[l];
				old = 0;
				again = true
			fi
		}
		if
		:: !again -> break
		:: else
		fi
	od
#endif
}

#ifdef PEAK_READ
#define PEAK(l) USAGE(word[l])
#else
#define PEAK(l) stored[l]
#endif

inline raise_watermark(l) {
	d_step {
		watermark[l] = (PEAK(l) > watermark[l] -> PEAK(l) : watermark[l]);
		assert(watermark[l] <= best[l]);
		stored[l] = 0
	}
}

/* What only lingers ends here or not: a placement on the way would end it. */
inline expire(l) {
	if
	:: d_step { pressure[l] == 0 && clean[l] -> clean[l] = false }
	:: true
	fi
}

/* @n pages at both levels: ok. */
inline climb(n) {
	enter();
	expire(0);
	try_level(0, n);
	if
	:: ok ->
		try_level(1, n);
		if
		:: ok ->
			raise_watermark(0);
			d_step {
				word[0] = word[0] - marked;
				marked = 0
			}
			raise_watermark(1)
		:: else ->
			d_step {
				word[0] = word[0] - n * PAGE - marked;
				moving = moving - n;
				marked = 0;
				stored[0] = 0;
				assert(!doubt)
			}
		fi
	:: else
	fi;
	leave()
}

inline uncharge(n) {
	enter();
	d_step {
		word[0] = word[0] - n * PAGE;
		live[0] = live[0] - n
	}
	d_step {
		word[1] = word[1] - n * PAGE;
		live[1] = live[1] - n
	}
	leave()
}

inline lock() {
	atomic {
		!drain_lock -> drain_lock = true
	}
}

inline unlock() {
	drain_lock = false
}

inline pressure_begin(l) {
	d_step {
		pressure[l]++;
		again = !clean[l]
	}
	if
	:: again ->
		lock();
		if
		:: !clean[l] ->
#ifndef NO_GRACE
			grace(0);
#endif
			clean[l] = true
		:: else
		fi;
		unlock();
		again = false
	:: else
	fi
}

inline pressure_end(l) {
	d_step {
		assert(pressure[l] > 0);
		pressure[l]--
	}
}

#define LOCALS                                      \
	byte w, old, at, stored[2];                 \
	bit mark, marked;                           \
	bool ok, wrong, again

/* Two charges that do not wait; what they get is given back. */
proctype Charger(byte me; byte n) {
	LOCALS;
	byte calls;

	do
	:: calls < 2 ->
		calls++;
		climb(n);
		if
		:: ok -> uncharge(n)
		:: else
		fi;
		ok = false;
		wrong = false;
		at = 0
	:: else -> break
	od;
	running--
}

/* One page, and it may sleep. */
proctype Sleeper(byte me) {
	LOCALS;
	bool pressed[2];

	d_step {
		asking = asking | BIT;
		JUSTIFY
	}
	do
	:: true ->
		climb(1);
		if
		:: ok -> break
		:: !ok && !pressed[at] ->
			pressed[at] = true;
			if
			:: at == 0 -> pressure_begin(0)
			:: at == 1 -> pressure_begin(1)
			fi
		:: !ok && pressed[at] && wrong
		:: !ok && pressed[at] && !wrong ->
			d_step {
				if
				:: !(justified & BIT) ->
					assert(at == 0 && live[0] + moving + 1 > limit[0]);
					doubt = true
				:: else
				fi
			}
			break
		fi
	od;
	ok = false;
	d_step {
		asking = asking & ~BIT;
		justified = justified & ~BIT;
		wrong = false;
		at = 0
	}
	if
	:: pressed[0] -> pressure_end(0)
	:: else
	fi;
	if
	:: pressed[1] -> pressure_end(1)
	:: else
	fi;
	running--
}

/*
 * Two waits a round: each lets pass what begins while it lasts, and that has a version which the other
 * comes between.
 */
#if defined(NO_WRAP_GRACE)
#define WAIT_BEFORE(w) false
#elif defined(WRAP_ONCE)
#define WAIT_BEFORE(w) (((w) & VERSIONS) == VERSIONS)
#else
#define WAIT_BEFORE(w) (((w) & VERSION) != 0)
#endif

#define NEXT_VERSION(w) (((w) & ~VERSIONS) | (((w) + VERSION) & VERSIONS))

inline lower(l, pages) {
#ifdef MAX_FIRST
	max[l] = pages;
#endif
	d_step {
		limit[l] = pages;
		JUSTIFY
	}
#ifndef NO_VERSION
	if
	:: WAIT_BEFORE(word[l]) -> grace(1)
	:: else
	fi;
	word[l] = NEXT_VERSION(word[l]);
#endif
	max[l] = pages
}

inline raise(pages) {
	max[0] = pages;
	limit[0] = pages
}

#ifdef LOWERED
/* From any version on, till it comes again. */
proctype Operator(byte me) {
	lower(0, 2);
	lower(0, 1);
	raise(3);
	lower(0, 2);
	lower(0, 1);
	running--
}
#endif

#ifdef CAPPED
proctype Operator(byte me) {
	lower(1, 4);
	running--
}
#endif

proctype Last() {
	running == 0;
	d_step {
		assert(USAGE(word[0]) == live[0] && USAGE(word[1]) == live[1]);
		assert(CLIMBS(word[0]) == 0 && CLIMBS(word[1]) == 0);
		assert(moving == 0)
	}
}

init {
	atomic {
		limit[0] = LIMIT_0;
		limit[1] = LIMIT_1;
		max[0] = LIMIT_0;
		max[1] = LIMIT_1;
		word[1] = OTHERS * PAGE;
		live[1] = OTHERS;
		watermark[1] = OTHERS;
		best[1] = OTHERS;
#ifndef LOWERED
		if
		:: clean[0] = true
		:: true
		fi;
#endif
#ifdef HOPELESS
		running = 3;
		run Charger(1, LARGE);
		run Charger(2, 1);
		run Sleeper(3);
#endif
#ifdef TWO
		running = 3;
		run Charger(1, LARGE);
		run Sleeper(2);
		run Sleeper(3);
#endif
#ifdef FULL
		running = 3;
		run Sleeper(1);
		run Sleeper(2);
		run Sleeper(3);
#endif
#ifdef LOWERED
		if
		:: word[0] = 0
		:: word[0] = VERSION
		:: word[0] = 2 * VERSION
		:: word[0] = 3 * VERSION
		fi;
		running = 3;
		run Charger(1, 1);
		run Charger(2, 2);
		run Operator(3);
#endif
#ifdef CAPPED
		if
		:: pressure[0] = 1; clean[0] = true
		:: true
		fi;
		running = 3;
		run Charger(1, LARGE);
		run Sleeper(2);
		run Operator(3);
#endif
		run Last()
	}
}
