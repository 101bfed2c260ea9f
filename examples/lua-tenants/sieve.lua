-- SPDX-License-Identifier: MIT
-- Primes by a segmented sieve: memory for one segment, whatever the end.

local function small_primes(limit)
	local composite, primes = {}, {}
	for n = 2, limit do
		if not composite[n] then
			primes[#primes + 1] = n
			for multiple = n * n, limit, n do
				composite[multiple] = true
			end
		end
	end
	return primes
end

local function each_prime(limit, visit)
	local primes = small_primes(math.floor(math.sqrt(limit)))
	local segment = {}
	local size = 32768
	for low = 2, limit, size do
		local high = math.min(low + size - 1, limit)
		for i = 0, high - low do
			segment[i] = true
		end
		for _, prime in ipairs(primes) do
			for multiple = math.max(prime * prime, (low + prime - 1) // prime * prime), high, prime do
				segment[multiple - low] = false
			end
		end
		for i = 0, high - low do
			if segment[i] then
				visit(low + i)
			end
		end
	end
end

local limit = 8000000
local count, sum, twins, last, gap, gap_at = 0, 0, 0, 0, 0, 0
each_prime(limit, function(prime)
	count = count + 1
	sum = sum + prime
	if prime - last == 2 then
		twins = twins + 1
	end
	if last > 0 and prime - last > gap then
		gap, gap_at = prime - last, last
	end
	last = prime
end)
print(("primes below %d: %d, the last is %d, their sum is %d"):format(limit, count, last, sum))
print(("twins: %d; the widest gap, %d, follows %d"):format(twins, gap, gap_at))
return count .. " primes"
