/* SPDX-License-Identifier: MIT */
/*
 * Lua scripts as tenants of one process: a thread, a group below "tenants" and a limit for each.
 *
 * All that a script allocates is charged to its group. When the group refuses, Lua collects its garbage and asks
 * again; refused once more, the script ends with Lua's error "not enough memory", and the others do not notice.
 * Exit status: 0: each script returned or was refused by its own group; 1: another end; 2: could not start.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <lauxlib.h>
#include <lualib.h>
#include <memcg/files.h>
#include <memcg/heap.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tenant {
	const char *script;       /* its file */
	struct memcg *group;      /* who pays; main's reference */
	pthread_t thread;         /* where the script runs; main joins it before it reads what follows */
	lua_State *lua;           /* holds lines and result; NULL: refused before it began */
	int status;               /* of lua_pcall() */
	struct memcg_refusal why; /* who refused, if the status is LUA_ERRMEM */
};

static const char *max = "16M"; /* --max: memory.max of each tenant */
static int keep;                /* --keep: the groups stay in the tree, for a report at exit */
static struct tenant *tenants;  /* in the order of the command line */

/* Lua relies on it that a block can be freed and made smaller: if it cannot shrink, it stays as it is. */
static void *tenant_alloc(void *arg, void *ptr, size_t old_size, size_t new_size)
{
	const struct tenant *tenant = arg;

	if (!new_size) {
		memcg_free(ptr);
		return NULL;
	}
	void *block = memcg_heap_realloc(tenant->group, ptr, new_size, MEMCG_MAY_SLEEP);
	return block || new_size > old_size ? block : ptr;
}

/* The scripts' print(): lines wait in the tenant's own memory (upvalue 1) until it has ended. */
static int tenant_print(lua_State *lua)
{
	int nr = lua_gettop(lua);
	luaL_Buffer line;

	luaL_buffinit(lua, &line);
	for (int i = 1; i <= nr; i++) {
		luaL_addstring(&line, i > 1 ? "\t" : "");
		luaL_tolstring(lua, i, NULL);
		luaL_addvalue(&line);
	}
	luaL_pushresult(&line);
	lua_rawseti(lua, lua_upvalueindex(1), (lua_Integer)lua_rawlen(lua, lua_upvalueindex(1)) + 1);
	return 0;
}

/* All that may raise an error runs in here, under lua_pcall(): Lua never panics. No io, os and package for tenants. */
static int tenant_script(lua_State *lua)
{
	static const luaL_Reg libraries[] = { { LUA_GNAME, luaopen_base },       { LUA_COLIBNAME, luaopen_coroutine },
					      { LUA_TABLIBNAME, luaopen_table }, { LUA_STRLIBNAME, luaopen_string },
					      { LUA_UTF8LIBNAME, luaopen_utf8 }, { LUA_MATHLIBNAME, luaopen_math } };
	const struct tenant *tenant = lua_touserdata(lua, 1);

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		luaL_requiref(lua, libraries[i].name, libraries[i].func, 1);
	lua_newtable(lua);
	lua_pushvalue(lua, -1);
	lua_rawsetp(lua, LUA_REGISTRYINDEX, tenant);
	lua_pushcclosure(lua, tenant_print, 1);
	lua_setglobal(lua, "print");
	if (luaL_loadfile(lua, tenant->script) != LUA_OK)
		return lua_error(lua);
	lua_call(lua, 0, 1);
	luaL_tolstring(lua, -1, NULL);
	return 1;
}

static void *tenant_thread(void *arg)
{
	struct tenant *tenant = arg;

	tenant->status = LUA_ERRMEM;
	if (!memcg_attach(tenant->group))
		tenant->lua = lua_newstate(tenant_alloc, tenant);
	if (tenant->lua) {
		lua_pushcfunction(tenant->lua, tenant_script);
		lua_pushlightuserdata(tenant->lua, tenant);
		tenant->status = lua_pcall(tenant->lua, 1, 1, 0);
	}
	if (tenant->status == LUA_ERRMEM)
		tenant->why = *memcg_last_refusal();
	return NULL;
}

/* The group has the name of the script's file; the second of a name is "name.2". */
static void tenant_start(struct tenant *tenant, const char *script, struct memcg *parent)
{
	const char *slash = strrchr(script, '/'), *base = slash ? slash + 1 : script;
	ssize_t ret = memcg_create(parent, base, &tenant->group);
	char name[2 * MEMCG_NAME_MAX];

	for (int i = 2; ret == -EEXIST; i++) {
		snprintf(name, sizeof(name), "%s.%d", base, i);
		ret = memcg_create(parent, name, &tenant->group);
	}
	tenant->script = script;
	if (!ret)
		ret = memcg_write(tenant->group, "memory.max", max, strlen(max));
	if (ret >= 0)
		ret = -pthread_create(&tenant->thread, NULL, tenant_thread, tenant);
	if (ret < 0)
		errx(2, "%s, max %s: %s", script, max, strerror((int)-ret));
}

/* The number behind a key in a file, "" for a file that is one number. */
static unsigned long file_number(struct memcg *group, const char *file, const char *key)
{
	char text[512] = "";
	const char *at = memcg_read(group, file, text, sizeof(text)) > 0 ? strstr(text, key) : NULL;

	return at ? strtoul(at + strlen(key), NULL, 10) : 0;
}

/* 0: the script ended as it may. Lua is asked only for what allocates nothing: an error here would be a panic. */
static int tenant_report(struct tenant *tenant)
{
	int has_text = tenant->lua && lua_type(tenant->lua, -1) == LUA_TSTRING;
	const char *text = has_text ? lua_tostring(tenant->lua, -1) : tenant->lua ? "(no text)" : "no room to begin";
	char path[2 * MEMCG_NAME_MAX] = "";

	memcg_path(tenant->group, path, sizeof(path));
	printf("%s\n", path);
	if (tenant->lua && lua_rawgetp(tenant->lua, LUA_REGISTRYINDEX, tenant) == LUA_TTABLE) {
		for (int i = 1; lua_rawgeti(tenant->lua, -1, i) == LUA_TSTRING; i++, lua_pop(tenant->lua, 1))
			printf("  | %s\n", lua_tostring(tenant->lua, -1));
	}
	if (tenant->why.group && memcg_path(tenant->why.group, path, sizeof(path)) > 0)
		printf("  refused by %s of %s: %s\n", tenant->why.file, path, text);
	else
		printf("  %s: %s\n", tenant->status == LUA_OK ? "returned" : "failed", text);
	return tenant->status != LUA_OK && tenant->why.group != tenant->group;
}

/* A limit of 0 takes back what CPUs hold in stock for the group: what is charged then is in use. 0: none is. */
static int tenant_end(struct tenant *tenant)
{
	unsigned long left;

	if (tenant->lua) /* allocated by another thread: the group that paid is credited all the same */
		lua_close(tenant->lua);
	memcg_write(tenant->group, "memory.max", "0", 1);
	left = file_number(tenant->group, "memory.current", "");
	printf("  memory.peak %lu, memory.events max %lu, at last memory.current %lu\n",
	       file_number(tenant->group, "memory.peak", ""), file_number(tenant->group, "memory.events", "\nmax "),
	       left);
	if (keep)
		memcg_write(tenant->group, "memory.max", max, strlen(max));
	else if (memcg_destroy(tenant->group))
		left = 1;
	memcg_put(tenant->group);
	return left > 0;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = { { "max", required_argument, NULL, 'm' },
					       { "keep", no_argument, &keep, 1 },
					       { NULL, 0, NULL, 0 } };
	struct memcg *parent;
	int option, status = 0;

	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (option == '?')
			return 2;
		max = option == 'm' ? optarg : max;
	}
	tenants = calloc((size_t)argc, sizeof(*tenants));
	if (optind == argc || !*max || !tenants || memcg_create(NULL, "tenants", &parent))
		errx(2, "usage: lua-tenants [--max SIZE] [--keep] SCRIPT...");
	for (int i = 0; i < argc - optind; i++)
		tenant_start(&tenants[i], argv[optind + i], parent);
	for (int i = 0; i < argc - optind; i++) {
		pthread_join(tenants[i].thread, NULL);
		status |= tenant_report(&tenants[i]);
		status |= tenant_end(&tenants[i]);
	}
	status |= !keep && memcg_destroy(parent);
	memcg_put(parent);
	free(tenants);
	return status;
}
