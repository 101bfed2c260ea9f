-- SPDX-License-Identifier: MIT
-- JSON there and back: documents are written, parsed and written again; both texts are the same.

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\b"] = "\\b", ["\f"] = "\\f" }
local unescapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }
local null = setmetatable({}, { __name = "null" })
local literals = { ["true"] = true, ["false"] = false, null = null }

local function encode_string(s)
	return '"' .. s:gsub('[%c"\\]', function(c)
		return escapes[c] or ("\\u%04x"):format(c:byte())
	end) .. '"'
end

-- Keys in order: Lua's own order differs from run to run.
local function encode(value, out)
	local kind = type(value)
	if value == null then
		out[#out + 1] = "null"
	elseif kind == "string" then
		out[#out + 1] = encode_string(value)
	elseif kind == "number" then
		out[#out + 1] = (math.type(value) == "integer" and "%d" or "%.17g"):format(value)
	elseif kind == "boolean" then
		out[#out + 1] = tostring(value)
	elseif #value > 0 then
		for i, item in ipairs(value) do
			out[#out + 1] = i == 1 and "[" or ","
			encode(item, out)
		end
		out[#out + 1] = "]"
	else
		local keys = {}
		for key in pairs(value) do
			keys[#keys + 1] = key
		end
		table.sort(keys)
		out[#out + 1] = "{"
		for i, key in ipairs(keys) do
			out[#out + 1] = (i == 1 and "" or ",") .. encode_string(key) .. ":"
			encode(value[key], out)
		end
		out[#out + 1] = "}"
	end
	return out
end

local function to_json(value)
	return table.concat(encode(value, {}))
end

local function fail(text, pos, what)
	error(("JSON: %s at byte %d, near '%s'"):format(what, pos, text:sub(pos, pos + 9)), 0)
end

local function decode_escapes(s)
	s = s:gsub("\\u([dD][89abAB]%x%x)\\u([dD][c-fC-F]%x%x)", function(high, low)
		return utf8.char(0x10000 + ((tonumber(high, 16) & 0x3ff) << 10 | tonumber(low, 16) & 0x3ff))
	end)
	return (s:gsub("\\(.)(%x?%x?%x?%x?)", function(c, hex)
		if c == "u" then
			return utf8.char(tonumber(hex, 16))
		end
		return unescapes[c] .. hex
	end))
end

local function decode_string(text, pos)
	local from = pos + 1
	local stop = from
	while true do
		stop = text:find('["\\]', stop) or fail(text, pos, "string without end")
		if text:byte(stop) == 34 then
			break
		end
		stop = stop + 2
	end
	local s = text:sub(from, stop - 1)
	return s:find("\\", 1, true) and decode_escapes(s) or s, stop + 1
end

local decode

local function decode_items(text, pos, close, item)
	pos = text:find("%S", pos + 1)
	if pos and text:sub(pos, pos) == close then
		return pos + 1
	end
	while true do
		pos = item(pos)
		local mark
		mark, pos = text:match("^%s*([,%]}])%s*()", pos)
		if mark == close then
			return pos
		elseif mark ~= "," then
			fail(text, pos or #text, "',' or '" .. close .. "' missing")
		end
	end
end

function decode(text, pos)
	pos = text:find("%S", pos) or fail(text, pos, "value missing")
	local first = text:sub(pos, pos)
	if first == '"' then
		return decode_string(text, pos)
	elseif first == "[" then
		local array = {}
		return array, decode_items(text, pos, "]", function(at)
			array[#array + 1], at = decode(text, at)
			return at
		end)
	elseif first == "{" then
		local object = {}
		return object, decode_items(text, pos, "}", function(at)
			local key
			key, at = decode_string(text, at)
			at = text:match("^%s*:()", at) or fail(text, at, "':' missing")
			object[key], at = decode(text, at)
			return at
		end)
	end
	local word = text:match("^%a+", pos)
	if word then
		if literals[word] == nil then
			fail(text, pos, "unknown word")
		end
		return literals[word], pos + #word
	end
	local number = text:match("^-?%d[%d.eE+-]*", pos) or fail(text, pos, "value missing")
	return tonumber(number) or fail(text, pos, "bad number"), pos + #number
end

-- Documents: orders with lines, notes in several scripts, and what needs escapes.
local state = 20240229
local function random(n)
	state = (state * 1103515245 + 12345) & 0x7fffffff
	return (state >> 8) % n + 1
end

local notes = { "plain", 'he said "no"', "tab\there", "back\\slash", "Grüße", "日本語", "🙂", "line\nbreak", "\1\2" }

local function order(id)
	local lines = {}
	for i = 1, 10 + random(30) do
		lines[i] = {
			article = ("A-%05d"):format(random(99999)),
			amount = random(12),
			price = random(100000) / 100,
			gift = random(2) == 1,
			note = random(5) == 1 and notes[random(#notes)] or null,
		}
	end
	return { id = id, customer = { name = "customer " .. random(500), rate = 1 / random(97) }, lines = lines }
end

local function checksum(sum, text)
	for i = 1, #text do
		sum = (sum * 31 + text:byte(i)) & 0xffffffff
	end
	return sum
end

local sample = ' { "a" : [ 1 , -2.5e3, "\\u00e9\\ud83d\\ude42\\/" ], "b":{ }, "c" : [true,false,null] } '
assert(to_json(decode(sample, 1)) == '{"a":[1,-2500,"é🙂/"],"b":{},"c":[true,false,null]}')
assert(not pcall(decode, '{"a":[1,2}', 1))

local documents, bytes, sum = 300, 0, 0
for id = 1, documents do
	local text = to_json(order(id))
	assert(to_json((decode(text, 1))) == text)
	bytes = bytes + #text
	sum = checksum(sum, text)
end
print(("%d documents, %d bytes, each the same after a round trip"):format(documents, bytes))
return ("checksum %08x"):format(sum)
