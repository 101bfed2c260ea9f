-- SPDX-License-Identifier: MIT
-- What every host of scripts meets some day: a table that is appended to for ever.

local log = {}
while true do
	log[#log + 1] = { id = #log, text = "request " .. #log }
end
