/* SPDX-License-Identifier: MIT */
/*
 * Creations, opens and destructions by any name, against a plain list of what exists.
 *
 * A record's first byte: its lowest two bits say what (0 and 3 create, 1 open, 2 destroy), those above which
 * group of the list, modulo its length, it is below or about. The bytes are the name or the path, up to a NUL.
 */
#include "fuzz/fuzz.h"

#include "base/compiler.h"

#define NODES 80 /* more than one path is deep */

static struct node {
	struct memcg *group;
	int parent; /* in nodes; the root is its own */
	char *name;
	int exists; /* not destroyed */
	int children;
	int depth;
} nodes[NODES];

static int nr_nodes;

static int find_child(int parent, const char *name, size_t len)
{
	int i;

	for (i = 1; i < nr_nodes; i++) {
		if (nodes[i].exists && nodes[i].parent == parent && strlen(nodes[i].name) == len &&
		    memcmp(nodes[i].name, name, len) == 0)
			return i;
	}
	return -1;
}

/* A name is bad in ways that may come together; which is told is not fixed. */
static int name_allows(const char *name, int err)
{
	size_t len = strlen(name);
	int too_long = len > MEMCG_NAME_MAX;
	int invalid = !len || strpbrk(name, "/\n") || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;

	if (!too_long && !invalid)
		return err != -EINVAL && err != -ENAMETOOLONG;
	return (err == -EINVAL && invalid) || (err == -ENAMETOOLONG && too_long);
}

static void path_of(int i, char *path)
{
	if (nodes[i].parent) {
		path_of(nodes[i].parent, path);
		strcat(path, "/");
	}
	strcat(path, nodes[i].name);
}

static void check_path(int i)
{
	char expected[NODES * (MEMCG_NAME_MAX + 1)] = "", path[sizeof(expected) + 16], *tight;
	size_t len;

	if (i)
		path_of(i, expected);
	else
		strcpy(expected, "/");
	if (!nodes[i].exists)
		strcat(expected, " (deleted)");
	len = strlen(expected);
	must(memcg_path(nodes[i].group, path, sizeof(path)) == (int)len);
	must(strcmp(path, expected) == 0);
	tight = malloc(len + 1);
	must(tight);
	must(memcg_path(nodes[i].group, tight, len + 1) == (int)len);
	must(memcg_path(nodes[i].group, tight, len) == -ENAMETOOLONG);
	free(tight);
}

static void create(int parent, const char *name)
{
	struct memcg *group = NULL;
	int err = memcg_create(nodes[parent].group, name, &group), i;

	must(name_allows(name, err));
	if (err == -EINVAL || err == -ENAMETOOLONG) {
		must(!group);
		return;
	}
	if (!nodes[parent].exists)
		must(err == -ENODEV);
	else if (nodes[parent].depth == MEMCG_DEPTH_MAX)
		must(err == -EAGAIN || (err == -EEXIST && find_child(parent, name, strlen(name)) >= 0));
	else
		must(err == (find_child(parent, name, strlen(name)) >= 0 ? -EEXIST : 0));
	must(!err == !!group);
	if (err)
		return;
	i = nr_nodes++;
	nodes[i].group = group;
	nodes[i].parent = parent;
	nodes[i].name = strdup(name);
	nodes[i].exists = 1;
	nodes[i].children = 0;
	nodes[i].depth = nodes[parent].depth + 1;
	nodes[parent].children++;
	must(nodes[i].name && memcg_parent(group) == nodes[parent].group);
	check_path(i);
}

static void open_path(const char *path)
{
	struct memcg *group = NULL;
	int err = memcg_open(path, &group), at = 0;

	while (at >= 0 && *path) {
		size_t len = strcspn(path, "/");

		if (len)
			at = find_child(at, path, len);
		path += len + (path[len] == '/');
	}
	must(err == (at < 0 ? -ENOENT : 0));
	must(group == (at < 0 ? NULL : nodes[at].group));
	memcg_put(group);
}

static void destroy(int i)
{
	int err = memcg_destroy(nodes[i].group);

	if (!i)
		must(err == -EBUSY);
	else if (!nodes[i].exists)
		must(err == -ENODEV);
	else
		must(err == (nodes[i].children ? -EBUSY : 0));
	if (err)
		return;
	nodes[i].exists = 0;
	nodes[nodes[i].parent].children--;
	check_path(i);
}

/* Each that exists once, parents first. */
static int visit(struct memcg *group, void *seen)
{
	int i = 0;

	while (i < nr_nodes && nodes[i].group != group)
		i++;
	must(i < nr_nodes && nodes[i].exists && !((char *)seen)[i] && (!i || ((char *)seen)[nodes[i].parent]));
	((char *)seen)[i] = 1;
	return 0;
}

static void check_walk(void)
{
	char seen[NODES] = { 0 };
	int i;

	must(memcg_walk(NULL, visit, seen) == 0);
	for (i = 0; i < nr_nodes; i++) {
		must(seen[i] == nodes[i].exists);
		if (nodes[i].exists) {
			char path[NODES * (MEMCG_NAME_MAX + 1)];

			must(memcg_path(nodes[i].group, path, sizeof(path)) > 0);
			open_path(path);
		}
	}
}

static int count(struct memcg *group, void *nr)
{
	(void)group;
	++*(int *)nr;
	return 0;
}

static void end(void)
{
	int left = 0;

	while (--nr_nodes > 0) {
		if (nodes[nr_nodes].exists)
			must(memcg_destroy(nodes[nr_nodes].group) == 0);
		memcg_put(nodes[nr_nodes].group);
		free(nodes[nr_nodes].name);
	}
	memcg_tick();
	must(memcg_walk(NULL, count, &left) == 0);
	must(left == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t first;
	size_t len;
	char *bytes;

	fuzz_start();
	nr_nodes = 1;
	nodes[0] = (struct node){ .group = memcg_root(), .exists = 1 };
	while ((bytes = fuzz_record(&data, &size, &first, &len))) {
		int about = (first >> 2) % nr_nodes;

		if (first % 4 == 1)
			open_path(bytes);
		else if (first % 4 == 2)
			destroy(about);
		else if (nr_nodes < NODES)
			create(about, bytes);
		free(bytes);
	}
	check_walk();
	end();
	return 0;
}
