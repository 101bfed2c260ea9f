-- SPDX-License-Identifier: MIT
-- Objects that come and go: tables, strings, closures. ROUNDS is set in front.

local function words(n)
	local parts, count, distinct = {}, {}, 0
	for i = 1, n do
		parts[i] = "word" .. (i * 7919 % 1000)
	end
	for word in table.concat(parts, " "):gmatch("%S+") do
		if not count[word] then
			distinct = distinct + 1
		end
		count[word] = (count[word] or 0) + 1
	end
	return distinct
end

local function chain(n)
	local head, total = nil, 0
	for i = 1, n do
		head = { key = "key " .. i, value = { i, i * 0.5 }, next = head }
	end
	while head do
		total = total + #head.key + head.value[1]
		head = head.next
	end
	return total
end

local function rows(n)
	local all, total = {}, 0
	for i = 1, n do
		local name = "n" .. i
		all[i] = { id = i, name = name, get = function() return name end }
	end
	table.sort(all, function(a, b) return a.name < b.name end)
	for _, row in ipairs(all) do
		total = total + #row.get()
	end
	return total
end

local total = 0
for _ = 1, ROUNDS do
	total = total + words(16000) + chain(16000) + rows(8000)
end
print(total)
