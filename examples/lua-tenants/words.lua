-- SPDX-License-Identifier: MIT
-- Word count over a generated text: what is counted must be what was written.

local state = 1815
local function random(n)
	state = (state * 1103515245 + 12345) & 0x7fffffff
	return (state >> 8) % n + 1
end

local onsets = { "b", "br", "d", "f", "fl", "g", "k", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "v", "w" }
local vowels = { "a", "e", "i", "o", "u", "ai", "ea", "ou" }
local codas = { "", "", "n", "r", "s", "t", "nd", "ck" }

local function new_word()
	local syllables = {}
	for i = 1, random(3) do
		syllables[i] = onsets[random(#onsets)] .. vowels[random(#vowels)] .. codas[random(#codas)]
	end
	return table.concat(syllables)
end

local vocabulary, known = {}, {}
while #vocabulary < 4000 do
	local word = new_word()
	if not known[word] then
		known[word] = true
		vocabulary[#vocabulary + 1] = word
	end
end

-- A paragraph of sentences; counts what it writes.
local function paragraph(written)
	local sentences = {}
	for i = 1, 5 + random(10) do
		local words = {}
		for k = 1, 4 + random(12) do
			local word = vocabulary[random(random(#vocabulary))]
			written[word] = (written[word] or 0) + 1
			words[k] = word
		end
		words[1] = words[1]:gsub("^%l", string.upper)
		sentences[i] = table.concat(words, random(6) == 1 and ", " or " ") .. "."
	end
	return table.concat(sentences, " ")
end

local written, counted = {}, {}
local bytes, total = 0, 0
for _ = 1, 5000 do
	local text = paragraph(written)
	bytes = bytes + #text
	for word in text:lower():gmatch("%a+") do
		counted[word] = (counted[word] or 0) + 1
		total = total + 1
	end
end

local list = {}
for word, count in pairs(counted) do
	assert(written[word] == count)
	list[#list + 1] = word
end
for word in pairs(written) do
	assert(counted[word])
end
table.sort(list, function(a, b)
	if counted[a] ~= counted[b] then
		return counted[a] > counted[b]
	end
	return a < b
end)

print(("%d bytes, %d words, %d of them different"):format(bytes, total, #list))
for i = 1, 5 do
	print(("%6d %s"):format(counted[list[i]], list[i]))
end
return total .. " words"
