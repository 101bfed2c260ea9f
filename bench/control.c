/* SPDX-License-Identifier: MIT */
/*
 * memcg-bench control: what eight clients that ask without a pause cost a thread that charges.
 *
 * One thread charges pages one by one and uncharges them, far enough to walk the counters each way. Beside it, in turn:
 *   hammered   eight processes ask the control socket of this one: files of the groups that are charged, the
 *              tree, limits of other groups
 *   quiet      the same processes burn as much CPU as they and the server's thread did in the last hammered slice,
 *              and ask nothing
 *
 * Compared are charges per second of the charging thread's own CPU time: what others take of the CPUs is the same on
 * both sides, and is not the question.
 */
#include "clients.h"
#include "subject.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <memcg/control.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SWING 300       /* pages up, and down again: more than a stock holds */
#define CHUNK 4         /* swings between two looks at the clock */
#define OTHERS 40       /* groups that the tree has besides */
#define WARM_UP_US 5000 /* from the order to the first operation */

/* The groups are tree0-0, below it b0, below it leaf0; others are other0 ... */
#define LEAF "tree0-0/b0/leaf0"

static const char *const reader[] = {
	"read memory.current " LEAF "\n", "read memory.stat " LEAF "\n", "read memory.events /\n",
	"read memory.max tree0-0\n",      "read memory.peak " LEAF "\n", NULL,
};
static const char *const walker[] = { "tree /\n", "list /\n", NULL };
static const char *const writer[] = {
	"write memory.max 2 other0\n1G",     "write memory.high 3 " LEAF "\n64G", "write memory.max 3 other0\nmax",
	"write memory.high 3 " LEAF "\nmax", "write memory.nonsense 1 /\n1",      NULL,
};
static const char *const *const requests[CLIENTS] = { reader, reader, reader, reader, walker, walker, writer, writer };

struct control_bench {
	struct bench *b;
	struct clients clients;
	struct subject s;
	struct memcg *leaf;
	struct pool *pool;      /* the one that charges */
	struct work work;       /* its work */
	char path[128];         /* of the socket */
	int server;             /* thread id of the server */
	double share;           /* of a CPU that a client burns, from the last hammered slice */
	double server_share;    /* that the server used there */
	double seconds;         /* of a slice */
	double hammered_ns;     /* in sum */
	unsigned long requests; /* in sum */
};

struct control_case {
	struct bench_case base;
	struct control_bench *cb;
	bool hammered;
};

static struct control_bench bench; /* one */

static int swing(const struct work *work, unsigned int worker, unsigned long ops)
{
	int err = 0, i;

	(void)work;
	(void)worker;
	for (; ops; ops -= ops < SWING ? ops : SWING) {
		for (i = 0; i < SWING; i++)
			err |= bench.s.charge(bench.leaf, 1, 0);
		for (i = 0; i < SWING; i++)
			bench.s.uncharge(bench.leaf, 1);
	}
	return err ? -ENOMEM : 0;
}

/* CPU time of the server's thread. */
static double server_ns(const struct control_bench *cb)
{
	char path[64], text[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", cb->server);
	file = fopen(path, "re");
	if (file && !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		fclose(file);
	return strtod(text, NULL);
}

static int take(struct bench_case *base, struct sample *out)
{
	struct control_case *c = (struct control_case *)base;
	struct control_bench *cb = c->cb;
	struct clients_done done;
	uint64_t begin;
	double wall, server;
	int err = clients_tell(&cb->clients, c->hammered ? CLIENT_HAMMER : CLIENT_BURN, cb->path,
			       cb->share + cb->server_share / CLIENTS, &done);

	if (err)
		return err;
	usleep(WARM_UP_US);
	begin = pool_clock_ns();
	server = server_ns(cb);
	err = pool_slice(cb->pool, &cb->work, cb->seconds, out);
	wall = (double)(pool_clock_ns() - begin);
	server = server_ns(cb) - server;
	if (!err)
		err = clients_tell(&cb->clients, CLIENT_IDLE, NULL, 0, &done);
	if (!err && c->hammered) {
		cb->share = done.cpu_ns / (wall + WARM_UP_US * 1e3) / CLIENTS;
		cb->server_share = server / wall;
		cb->hammered_ns += wall;
		cb->requests += done.requests;
		if (!done.requests)
			err = complain(cb->b, -EPROTO, "no request was answered");
	}
	return err;
}

/* The server's thread, by its name. */
static int find_server(struct control_bench *cb)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;

	cb->server = 0;
	while (tasks && (entry = readdir(tasks))) {
		char path[300], name[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "re");
		if (file && fgets(name, sizeof(name), file) && !strcmp(name, "memcg/control\n"))
			cb->server = (int)strtol(entry->d_name, NULL, 10);
		if (file)
			fclose(file);
	}
	if (tasks)
		closedir(tasks);
	return cb->server ? 0 : -ESRCH;
}

static int start_control(struct control_bench *cb)
{
	struct memcg_control_options options = { .size = sizeof(options), .path = cb->path };
	int (*start)(const struct memcg_control_options *) = dlsym(cb->s.object, "memcg_control_start");
	const char *directory = getenv("TMPDIR");
	int tries, err;

	snprintf(cb->path, sizeof(cb->path), "%s/memcg-bench-%d",
		 directory && strlen(directory) < 64 ? directory : "/tmp", (int)getpid());
	err = start ? start(&options) : -ENOSYS;
	if (err)
		return complain(cb->b, err, "control socket %s", cb->path);
	/* It names itself when it runs. */
	for (tries = 0; (err = find_server(cb)) && tries < 1000; tries++)
		usleep(1000);
	return err ? complain(cb->b, err, "the thread memcg/control") : 0;
}

static int prepare(struct control_bench *cb)
{
	static struct memcg *others[OTHERS];
	int err = subject_open(cb->b, SUBJECT_MEMCG, &cb->s);

	if (err)
		return err == -ENOENT ? complain(cb->b, err, "libmemcg.so") : err;
	err = subject_leaves(cb->b, &cb->s, 1, &cb->leaf);
	if (!err)
		err = subject_groups(cb->b, &cb->s, cb->s.root(), "other", OTHERS, others);
	if (!err)
		err = start_control(cb);
	if (!err)
		err = pool_open(1, cb->b->opt.pin, &cb->pool);
	return err;
}

static int measure(struct control_bench *cb)
{
	struct control_case hammered = { { .take = take, .name = "hammered" }, cb, true };
	struct control_case quiet = { { .take = take, .name = "quiet" }, cb, false };
	struct bench_case *cases[] = { &hammered.base, &quiet.base };
	int err = rounds_run(cases, 2, bench_pairs(cb->b, 61, 15));

	if (!err)
		err = report_ratio(cb->b, &hammered.base, &quiet.base, CPU_RATE,
				   "control.ratio.charges_per_cpu_second.hammered_over_quiet");
	if (!err) {
		output_real(&cb->b->out, (double)cb->requests / cb->hammered_ns * 1e9, "control.requests_per_second");
		output_real(&cb->b->out, cb->hammered_ns / 1e9, "control.hammered_seconds");
		output_real(&cb->b->out, cb->server_share, "control.cpu_share.server");
		output_real(&cb->b->out, cb->share * CLIENTS, "control.cpu_share.clients");
	}
	case_release(&hammered.base);
	case_release(&quiet.base);
	return err;
}

int bench_control(struct bench *b)
{
	int (*stop)(void);
	int err;

	bench = (struct control_bench){ .b = b, .seconds = b->opt.quick ? 0.1 : 0.5, .share = 0.1 };
	bench.work = (struct work){ .run = swing, .chunk = (unsigned long)SWING * CHUNK };
	err = clients_start(&bench.clients, requests);
	if (err)
		return complain(b, err, "clients");
	err = prepare(&bench);
	if (!err)
		err = measure(&bench);
	pool_close(bench.pool);
	stop = bench.s.object ? (int (*)(void))dlsym(bench.s.object, "memcg_control_stop") : NULL;
	if (stop)
		stop();
	clients_end(&bench.clients);
	return err;
}
