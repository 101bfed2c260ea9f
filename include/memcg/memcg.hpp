/* SPDX-License-Identifier: MIT */
/* C++17: a group handle, a scope, a listener. None throws. */
#ifndef MEMCG_MEMCG_HPP
#define MEMCG_MEMCG_HPP

#include <memcg/charge.h>
#include <memcg/files.h>

namespace libmemcg {

/* Owns one reference. */
class group {
public:
	group() noexcept = default;
	explicit group(struct ::memcg *owned) noexcept : ptr_(owned) {}
	group(const group &other) noexcept : ptr_(other.ptr_ ? memcg_get(other.ptr_) : nullptr) {}
	group(group &&other) noexcept : ptr_(other.ptr_) { other.ptr_ = nullptr; }
	group &operator=(group other) noexcept
	{
		struct ::memcg *mine = ptr_;
		ptr_ = other.ptr_;
		other.ptr_ = mine;
		return *this;
	}
	~group() { memcg_put(ptr_); }

	/* 0 or a negative errno, as memcg_create() and memcg_open(). */
	static int create(const group &parent, const char *name, group &out) noexcept
	{
		struct ::memcg *made = nullptr;
		int err = memcg_create(parent.ptr_, name, &made);
		if (!err)
			out = group(made);
		return err;
	}
	static int open(const char *path, group &out) noexcept
	{
		struct ::memcg *found = nullptr;
		int err = memcg_open(path, &found);
		if (!err)
			out = group(found);
		return err;
	}

	int destroy() noexcept { return memcg_destroy(ptr_); }
	struct ::memcg *get() const noexcept { return ptr_; }
	explicit operator bool() const noexcept { return ptr_ != nullptr; }

private:
	struct ::memcg *ptr_ = nullptr;
};

/* Enters at construction, leaves at destruction; leaving never sleeps, so that it
 * may be destroyed while a lock is held. */
class scope {
public:
	explicit scope(const group &g) noexcept : previous_(memcg_enter(g.get())) {}
	explicit scope(struct ::memcg *g) noexcept : previous_(memcg_enter(g)) {}
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;
	~scope() { memcg_leave(previous_); }

private:
	struct ::memcg *previous_;
};

/* Listens as long as it lives. Its address does not change: the function may know it. */
class listener {
public:
	listener() noexcept = default;
	listener(const listener &) = delete;
	listener &operator=(const listener &) = delete;
	~listener() { end(); }

	/* 0 or a negative errno, as memcg_event_listen(). What it listened to before is ended. */
	int listen(const group &g, const char *file, void (*fn)(struct ::memcg *, const char *, void *),
		   void *arg) noexcept
	{
		end();
		return memcg_event_listen(g.get(), file, fn, arg, &ptr_);
	}

	/* Waits for a call under way, but for the one that it is made from. */
	void end() noexcept
	{
		memcg_event_unlisten(ptr_);
		ptr_ = nullptr;
	}
	explicit operator bool() const noexcept { return ptr_ != nullptr; }

private:
	struct ::memcg_listener *ptr_ = nullptr;
};

} /* namespace libmemcg */
#endif
