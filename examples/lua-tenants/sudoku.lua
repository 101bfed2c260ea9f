-- SPDX-License-Identifier: MIT
-- Sudoku: all solutions of some hard grids. A cell's candidates are a bit mask; the search goes on
-- at the cell with the fewest.

local puzzles = {
	{ "17 clues", "000000010400000000020000000000050407008000300001090000300400200050100000000806000" },
	{ "Inkala 2010", "005300000800000020070010500400005300010070006003200080060500009004000030000009700" },
	{ "Inkala 2012", "800000000003600000070090200050007000000045700000100030001000068008500010090000400" },
	{ "Golden Nugget", "000000039000001005003050800008090006070002000100400000009080050020000600400700000" },
	{ "against search", "000000000000003085001020000000507000004000100090000000500000073002010000000040009" },
	{ "a clue less", "800000000003600000070090200050007000000045700000100000001000068008500010090000400" },
}

local units, units_of, peers = {}, {}, {}
for i = 0, 8 do
	local row, column, box = {}, {}, {}
	for k = 0, 8 do
		row[k + 1] = i * 9 + k + 1
		column[k + 1] = k * 9 + i + 1
		box[k + 1] = (i // 3 * 3 + k // 3) * 9 + i % 3 * 3 + k % 3 + 1
	end
	table.move({ row, column, box }, 1, 3, #units + 1, units)
end
for cell = 1, 81 do
	units_of[cell], peers[cell] = {}, {}
	local seen = { [cell] = true }
	for _, unit in ipairs(units) do
		local inside = false
		for _, other in ipairs(unit) do
			inside = inside or other == cell
		end
		if inside then
			table.insert(units_of[cell], unit)
			for _, other in ipairs(unit) do
				if not seen[other] then
					seen[other] = true
					table.insert(peers[cell], other)
				end
			end
		end
	end
end

local bits = {} -- how many bits a mask of nine has
for mask = 0, 511 do
	bits[mask] = (mask & 1) + (mask > 0 and bits[mask >> 1] or 0)
end

local assign

-- False when a cell has no candidate left, or a digit no place.
local function eliminate(grid, cell, digit)
	local mask = grid[cell]
	if mask & digit == 0 then
		return true
	end
	mask = mask & ~digit
	grid[cell] = mask
	if mask == 0 then
		return false
	end
	if bits[mask] == 1 then
		for _, peer in ipairs(peers[cell]) do
			if not eliminate(grid, peer, mask) then
				return false
			end
		end
	end
	for _, unit in ipairs(units_of[cell]) do
		local place, places = nil, 0
		for _, other in ipairs(unit) do
			if grid[other] & digit ~= 0 then
				place, places = other, places + 1
			end
		end
		if places == 0 or (places == 1 and not assign(grid, place, digit)) then
			return false
		end
	end
	return true
end

function assign(grid, cell, digit)
	for bit = 0, 8 do
		local other = 1 << bit
		if other ~= digit and not eliminate(grid, cell, other) then
			return false
		end
	end
	return grid[cell] & digit ~= 0
end

local function to_text(grid)
	local digits = {}
	for cell = 1, 81 do
		digits[cell] = bits[grid[cell] - 1] + 1
	end
	return table.concat(digits)
end

local function search(grid, found, nodes)
	local best, fewest = nil, 10
	for cell = 1, 81 do
		local count = bits[grid[cell]]
		if count > 1 and count < fewest then
			best, fewest = cell, count
		end
	end
	if not best then
		found[#found + 1] = to_text(grid)
		return nodes + 1
	end
	for bit = 0, 8 do
		if grid[best] & 1 << bit ~= 0 then
			local copy = table.move(grid, 1, 81, 1, {})
			nodes = assign(copy, best, 1 << bit) and search(copy, found, nodes) or nodes + 1
		end
	end
	return nodes
end

local function solve(text)
	local grid, found = {}, {}
	for cell = 1, 81 do
		grid[cell] = 511
	end
	for cell = 1, 81 do
		local digit = tonumber(text:sub(cell, cell))
		if digit > 0 and not assign(grid, cell, 1 << digit - 1) then
			return found, 1
		end
	end
	return found, search(grid, found, 0)
end

local function check(text, clues)
	for cell = 1, 81 do
		local clue = clues:sub(cell, cell)
		assert(clue == "0" or clue == text:sub(cell, cell))
	end
	for _, unit in ipairs(units) do
		local mask = 0
		for _, cell in ipairs(unit) do
			mask = mask | 1 << tonumber(text:sub(cell, cell)) - 1
		end
		assert(mask == 511)
	end
end

local total = 0
for _, puzzle in ipairs(puzzles) do
	local name, clues = table.unpack(puzzle)
	local found, nodes = solve(clues)
	for _, text in ipairs(found) do
		check(text, clues)
	end
	table.sort(found)
	total = total + #found
	print(("%-14s %4d solved, %4d ends: %s"):format(name, #found, nodes, found[1]))
end
return total .. " solutions"
