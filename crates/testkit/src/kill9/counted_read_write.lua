-- Stock oltp_read_write whose transactions tell what was answered: each adds a row with its number to the table counted, and
-- notes the number in a file of its thread once its commit has been answered.

require("oltp_read_write")

local run, folder = os.getenv("KILL9_RUN"), os.getenv("KILL9_NOTES")
local stock_thread_init, stock_commit = thread_init, commit
local number, notes = 0, nil

function thread_init()
   stock_thread_init()
   notes = assert(io.open(folder .. "/" .. run .. "." .. sysbench.tid, "a"))
end

function commit()
   number = number + 1
   con:query(string.format("INSERT INTO counted VALUES (%d, %d, %d)", run, sysbench.tid, number))
   stock_commit()
   notes:write(number, "\n")
   notes:flush()
end
