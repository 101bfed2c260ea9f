-- SPDX-License-Identifier: MIT
-- An LRU cache under a skewed trace, at several sizes. LRU keeps the more the larger it is, so a
-- larger cache never has fewer hits; a plain list, slow and obvious, agrees on a part of the trace.

local LRU = {}
LRU.__index = LRU

function LRU.new(capacity)
	local ring = {}
	ring.next, ring.prev = ring, ring
	return setmetatable({ capacity = capacity, size = 0, map = {}, ring = ring, hits = 0, evicted = 0 }, LRU)
end

local function unlink(node)
	node.prev.next, node.next.prev = node.next, node.prev
end

local function link_first(ring, node)
	node.prev, node.next = ring, ring.next
	ring.next.prev = node
	ring.next = node
end

function LRU:get(key, load)
	local node = self.map[key]
	if node then
		self.hits = self.hits + 1
		unlink(node)
	else
		if self.size == self.capacity then
			local oldest = self.ring.prev
			unlink(oldest)
			self.map[oldest.key] = nil
			self.evicted = self.evicted + 1
		else
			self.size = self.size + 1
		end
		node = { key = key, value = load(key) }
		self.map[key] = node
	end
	link_first(self.ring, node)
	return node.value
end

-- The product of even draws is skewed: small keys are popular.
local function trace(length, keys)
	local state = 12345
	local function draw()
		state = (state * 1103515245 + 12345) & 0x7fffffff
		return (state >> 8) % keys
	end
	local list = {}
	for i = 1, length do
		list[i] = draw() * draw() * draw() // (keys * keys)
	end
	return list
end

local function list_hits(requests, length, capacity)
	local list, hits = {}, 0
	for i = 1, length do
		local at
		for k, key in ipairs(list) do
			if key == requests[i] then
				at = k
				break
			end
		end
		if at then
			hits = hits + 1
			table.remove(list, at)
		elseif #list == capacity then
			table.remove(list)
		end
		table.insert(list, 1, requests[i])
	end
	return hits
end

local function value_of(key)
	return ("value %d of some length"):format(key)
end

local function run(requests, length, capacity)
	local cache = LRU.new(capacity)
	for i = 1, length do
		assert(cache:get(requests[i], value_of) == value_of(requests[i]))
	end
	assert(cache.size + cache.evicted + cache.hits == length)
	return cache
end

local requests = trace(60000, 20000)
assert(run(requests, 5000, 100).hits == list_hits(requests, 5000, 100))

local total, before = 0, 0
for _, capacity in ipairs({ 10, 100, 1000, 5000, 10000 }) do
	local cache = run(requests, #requests, capacity)
	assert(cache.hits >= before)
	before = cache.hits
	total = total + cache.hits
	print(("%5d entries: %5d hits, %5d evicted"):format(capacity, cache.hits, cache.evicted))
end
return total .. " hits"
