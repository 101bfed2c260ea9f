/* SPDX-License-Identifier: MIT */
/*
 * Change notification (src/stat/notify.c): nothing is lost (N1), nobody is told too often (N2), no descriptor
 * is written to after it was closed (N3), no function is called after its listener was ended (N4); and threads that others move.
 */
#include <errno.h>
#include <unistd.h>

#include "base/eventfd.h"
#include "group/group.h"
#include "group/thread.h"
#include "tests/stage.h"
#include "tests/tests.h"

static struct memcg_listener *listener;
static int fd;
static unsigned long told; /* events of the group when the function was called last */
static unsigned int calls; /* of the function */
static uint64_t begin_ns;  /* of the run */

static unsigned long events_of(unsigned int nr)
{
	return load_seq(&stage[nr]->events.total[EVENT_MAX]);
}

/* A charge that is refused: events in group 2, and so in 1 and 0. */
static void raises(void)
{
	sim_check(memcg_charge(stage[2], 1, 0) == -ENOMEM);
}

static void raises_twice(void)
{
	raises();
	raises();
}

static void reads_events(struct memcg *group, const char *file, void *arg)
{
	(void)file;
	(void)arg;
	store_seq(&told, load_seq(&group->events.total[EVENT_MAX]));
	atomic_add(&calls, 1);
}

static void full_groups(void)
{
	stage_start(0);
	stage_make(1, 0, 0);
	stage_make(2, 1, 0);
	stage_set_max(2, 0);
	begin_ns = sim_clock_ns();
}

static void two_listeners(void)
{
	full_groups();
	sim_check(memcg_event_listen(stage[1], "memory.events", reads_events, NULL, &listener) == 0);
	fd = memcg_event_fd(stage[0], "memory.events");
	sim_check(fd >= 0);
}

static void ticks(void)
{
	memcg_tick();
	memcg_tick();
}

/* As the housekeeper does, and nothing else. */
static void delivers(void)
{
	notify_run();
	notify_run();
}

static uint64_t count_of(int descriptor)
{
	uint64_t count = 0;

	return read(descriptor, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

/* How often a file can have been told of since the run began. */
static uint64_t most(void)
{
	return 1 + (sim_clock_ns() - begin_ns) / NOTIFY_INTERVAL_NS;
}

static void all_told(void)
{
	uint64_t count = count_of(fd);

	sim_check(events_of(1) > 0 && count > 0 && count <= most());
	sim_check(calls <= most());
	sim_sleep_ns(NOTIFY_INTERVAL_NS);
	notify_run();
	sim_check(told == events_of(1));
	sim_check(count + count_of(fd) <= most());
	memcg_event_unlisten(listener);
	memcg_event_close(fd);
	sim_check(!notify_wanted());
}

const struct sim_test test_events_told = {
	.name = "events-told",
	.about = "events raised by two threads and a handler: the last one is told, and not too often",
	.cpus = 2,
	.threads = { raises, raises_twice, delivers },
	.setup = two_listeners,
	.check = all_told,
	.handler = raises,
	.max_irqs = 2,
};

/* Who clears the descriptor and then reads knows all, or is told again. */

static void clears_and_reads(void)
{
	event_clear(fd);
	sim_note(0, (long)events_of(1));
}

static void told_again(void)
{
	sim_sleep_ns(NOTIFY_INTERVAL_NS);
	notify_run();
	sim_check(events_of(1) == (unsigned long)sim_noted(0) || count_of(fd) > 0);
	memcg_event_close(fd);
}

static void raises_in_middle(void)
{
	events_raise(&stage[1]->events, EVENT_MAX);
}

static void descriptor_only(void)
{
	full_groups();
	fd = memcg_event_fd(stage[1], "memory.events");
	sim_check(fd >= 0);
}

const struct sim_test test_events_late = {
	.name = "events-late",
	.about = "two events and one reader of the descriptor, small enough for an exhaustive search",
	.cpus = 2,
	.threads = { raises_in_middle, raises_in_middle, clears_and_reads },
	.setup = descriptor_only,
	.check = told_again,
	.exhaustive_bound = 3,
};

/* Who listens before a change is told of it, or has read it. */

static void listens(void)
{
	int mine = memcg_event_fd(stage[2], "memory.events.local");
	unsigned long before = load_seq(&stage[2]->events.local[EVENT_MAX]);

	sim_check(mine >= 0);
	sim_note(0, mine);
	sim_note(1, (long)before);
}

static void nothing_unseen(void)
{
	sim_sleep_ns(NOTIFY_INTERVAL_NS);
	memcg_tick();
	if (load_seq(&stage[2]->events.local[EVENT_MAX]) != (unsigned long)sim_noted(1))
		sim_check(count_of((int)sim_noted(0)) > 0);
	memcg_event_close((int)sim_noted(0));
}

const struct sim_test test_events_listen = {
	.name = "events-listen",
	.about = "who begins to listen and then reads misses nothing",
	.cpus = 2,
	.threads = { raises, listens },
	.setup = full_groups,
	.check = nothing_unseen,
	.exhaustive_bound = 3,
};

/* The cookie is gone when unlisten has returned. */

static uint64_t *cookie;

static void touches_cookie(struct memcg *group, const char *file, void *arg)
{
	(void)group;
	(void)file;
	atomic_add((uint64_t *)arg, 1);
	atomic_add((uint64_t *)arg, 1);
}

static void cookie_listener(void)
{
	full_groups();
	cookie = sim_alloc(sizeof(*cookie), 0);
	sim_check(memcg_event_listen(stage[1], "memory.events", touches_cookie, cookie, &listener) == 0);
	fd = memcg_event_fd(stage[1], "memory.events");
	sim_check(fd >= 0);
}

static void ends_both(void)
{
	memcg_event_close(fd);
	memcg_event_unlisten(listener);
	sim_free(cookie);
}

static void none_left(void)
{
	stage_tick();
	sim_check(!notify_wanted());
	sim_check(memcg_destroy(stage[2]) == 0);
	memcg_put(stage[2]);
	sim_check(memcg_destroy(stage[1]) == 0);
	memcg_put(stage[1]);
	stage_nothing_left();
}

const struct sim_test test_events_unlisten = {
	.name = "events-unlisten",
	.about = "a listener and a descriptor end while events are raised, also by a handler, and delivered",
	.cpus = 2,
	.threads = { raises_in_middle, ends_both, delivers },
	.setup = cookie_listener,
	.check = none_left,
	.handler = raises,
	.max_irqs = 2,
};

/* A function that ends its own listener and destroys its group, while others look for work. */

static void ends_itself(struct memcg *group, const char *file, void *arg)
{
	(void)file;
	(void)arg;
	sim_check(calls == 0);
	calls++;
	memcg_event_unlisten(listener);
	sim_check(memcg_destroy(group) == 0);
	memcg_put(group);
}

static void listener_of_leaf(void)
{
	full_groups();
	sim_check(memcg_event_listen(stage[2], "memory.events", ends_itself, NULL, &listener) == 0);
	fd = memcg_event_fd(stage[2], "memory.events");
	sim_check(fd >= 0);
	memcg_get(stage[2]); /* for who raises */
	memcg_get(stage[2]);
}

static void raises_and_puts(void)
{
	raises();
	memcg_put(stage[2]);
}

static void called_once(void)
{
	sim_sleep_ns(NOTIFY_INTERVAL_NS);
	stage_tick();
	sim_check(calls == 1 && !notify_wanted());
	sim_check(count_of(fd) >= 1); /* of the change, and of the end */
	memcg_event_close(fd);
	sim_check(memcg_destroy(stage[1]) == 0);
	memcg_put(stage[1]);
	stage_nothing_left();
}

const struct sim_test test_events_self = {
	.name = "events-self",
	.about = "a function ends its listener and destroys its group, while another thread delivers",
	.cpus = 2,
	.threads = { raises_and_puts, raises_and_puts, delivers, ticks },
	.setup = listener_of_leaf,
	.check = called_once,
};

/* Destruction is told, at whatever moment. */

static bool saw_end;

static void sees_end(struct memcg *group, const char *file, void *arg)
{
	char text[128];

	(void)arg;
	if (memcg_read(group, file, text, sizeof(text)) == -ENODEV)
		saw_end = true;
}

static void listener_of_dying(void)
{
	full_groups();
	sim_check(memcg_event_listen(stage[2], "cgroup.events", sees_end, NULL, &listener) == 0);
	fd = memcg_event_fd(stage[2], "memory.events.local");
	sim_check(fd >= 0);
	memcg_get(stage[2]);
}

static void destroys_leaf(void)
{
	sim_check(memcg_destroy(stage[2]) == 0);
	memcg_put(stage[2]);
	memcg_tick();
}

static void listens_late(void)
{
	int mine = memcg_event_fd(stage[1], "memory.events");
	struct memcg_file *file;

	sim_check(memcg_file_open(stage[1], "memory.events", 0, &file) == 0);
	sim_check(memcg_file_poll_fd(file) >= 0);
	memcg_event_close(mine);
	memcg_file_close(file);
}

static void end_was_told(void)
{
	stage_tick();
	sim_check(saw_end);
	sim_check(count_of(fd) >= 1);
	memcg_event_close(fd);
	memcg_event_unlisten(listener);
	sim_check(memcg_destroy(stage[1]) == 0);
	memcg_put(stage[1]);
	stage_nothing_left();
}

const struct sim_test test_events_destroy = {
	.name = "events-destroy",
	.about = "a group is destroyed while events are raised in it, also by a handler; its listeners are told",
	.cpus = 2,
	.threads = { raises_and_puts, destroys_leaf, listens_late },
	.setup = listener_of_dying,
	.check = end_was_told,
	.handler = NULL,
};

/* A listener on the stack of a fork: the child has none, and goes on. */

static void forks(void)
{
	int mine;

	sim_fork_child();
	sim_check(!notify_wanted());
	memcg_event_unlisten(listener);
	raises();
	mine = memcg_event_fd(stage[1], "memory.events");
	sim_sleep_ns(NOTIFY_INTERVAL_NS);
	raises();
	memcg_tick();
	sim_check(count_of(mine) > 0);
	memcg_event_close(mine);
}

static void listens_and_ends(void)
{
	memcg_event_close(memcg_event_fd(stage[1], "memory.events"));
}

const struct sim_test test_events_fork = {
	.name = "events-fork",
	.about = "fork amid events, deliveries and new listeners: the child",
	.cpus = 3,
	.threads = { raises_twice, ticks, listens_and_ends, forks },
	.setup = two_listeners,
};

/* Threads that others move: one that has a home, one that never had. */

static void homes(void)
{
	stage_start(0);
	stage_make(1, 0, 0);
	stage_make(2, 0, 0);
	memcg_get(stage[2]); /* for who moves */
	sim_check(memcg_attach(NULL) == 0);
}

static void works_at_home(void)
{
	sim_check(memcg_attach(stage[1]) == 0);
	for (int i = 0; i < 2; i++) {
		struct memcg *home = memcg_current();

		sim_check(home == stage[1] || home == stage[2] || home == stage[0]);
		sim_check(memcg_charge(home, 1, 0) == 0);
		memcg_uncharge(home, 1);
	}
}

static void works_once(void)
{
	struct memcg *home = memcg_current();

	sim_check(memcg_charge(home, 1, 0) == 0);
	memcg_uncharge(home, 1);
}

static void works_anywhere(void)
{
	works_once();
	works_once();
}

static void move_to(unsigned int nr, const char *tid)
{
	ssize_t ret = memcg_write(stage[nr], "cgroup.threads", tid, 4);

	sim_check(ret == 4 || ret == -ESRCH || ret == -ENODEV);
}

/* The first two threads are 1001 and 1002. */
static void moves_both(void)
{
	move_to(2, "1001");
	move_to(2, "1002");
	move_to(0, "1001");
	move_to(1, "1002");
	memcg_put(stage[2]);
}

static void destroys_when_left(void)
{
	while (memcg_destroy(stage[2]))
		sim_yield();
	memcg_put(stage[2]);
	memcg_tick();
}

static void nobody_home(void)
{
	while (memcg_destroy(stage[1]))
		stage_tick();
	memcg_put(stage[1]);
	threads_settle();
	sim_check(memcg_root()->threads_below <= 1);
	stage_nothing_left();
}

const struct sim_test test_moves = {
	.name = "moves",
	.about = "threads are moved by another while they charge, also in a handler, and their groups destroyed",
	.cpus = 2,
	.threads = { works_at_home, works_anywhere, moves_both, destroys_when_left },
	.setup = homes,
	.check = nobody_home,
	.handler = works_once,
	.max_irqs = 2,
};

/* A thread is moved out of a group that is destroyed, between finding its home and charging it (M1 of member.c). */

static void leaves_late(void)
{
	struct memcg *home;

	sim_check(memcg_attach(stage[2]) == 0);
	sim_note(0, 1);
	home = memcg_current();
	sim_check(memcg_charge(home, 1, 0) == 0);
	memcg_uncharge(home, 1);
}

static void moves_out(void)
{
	while (!sim_noted(0))
		sim_yield();
	move_to(0, "1001");
	memcg_put(stage[2]);
	destroys_when_left();
}

const struct sim_test test_moved_out = {
	.name = "moved-out",
	.about = "a thread is on its way to charge a group that it was moved out of, and that is destroyed",
	.cpus = 2,
	.threads = { leaves_late, moves_out },
	.setup = homes,
	.check = nobody_home,
	.exhaustive_bound = 1,
};

/* The same for a thread that never attached itself: it takes its home from the other's entry. */

static void finds_out_and_leaves(void)
{
	struct memcg *home;

	while (memcg_current() != stage[2])
		sim_yield();
	sim_note(0, 1);
	home = memcg_current();
	sim_check(memcg_charge(home, 1, 0) == 0);
	memcg_uncharge(home, 1);
}

static void moves_in_and_out(void)
{
	move_to(2, "1001");
	moves_out();
}

const struct sim_test test_moved_in_and_out = {
	.name = "moved-in-and-out",
	.about = "the same for a thread that never attached itself",
	.cpus = 2,
	.threads = { finds_out_and_leaves, moves_in_and_out },
	.setup = homes,
	.check = nobody_home,
	.exhaustive_bound = 1,
};
