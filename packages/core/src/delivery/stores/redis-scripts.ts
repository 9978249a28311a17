const NOW = `
  local now = tonumber(ARGV[1])
  if now == 0 then local time = redis.call('TIME'); now = time[1] * 1000 + math.floor(time[2] / 1000) end
`

const HELD = `${NOW}
  local held = redis.call('HMGET', KEYS[1], 'owner', 'fence', 'until')
  if held[1] ~= ARGV[2] or held[2] ~= ARGV[3] or tonumber(held[3] or 0) <= now then return 0 end
`

/**
 * One Lua script for each operation. `KEYS[1]` is the subject: with one key, they also run in a cluster. `ARGV[1]` is
 * the time, or 0 for the time of Redis.
 */
export const scripts = {
  // ARGV: now, owner, lease, delivery, digest, retention. The expiry is also a field, for `now` from outside. A request
  // that was held up on a connection of before must not claim again for an owner that has ended its work.
  claim: `${NOW}
    local record = redis.call('HMGET', KEYS[1], 'owner', 'until', 'delivery', 'digest', 'expires', 'answer:' .. ARGV[4], 'ended')
    local live = record[1] and record[1] ~= '' and tonumber(record[2]) > now
    if not live and record[5] and tonumber(record[5]) <= now then redis.call('DEL', KEYS[1]); record = {} end
    if ARGV[4] ~= '' and record[6] then
      if tonumber(string.match(record[6], '^%S+ (%d+) ')) > now then return {'answered', record[6]} end
      redis.call('HDEL', KEYS[1], 'answer:' .. ARGV[4])
    end
    -- A holder that vanished leaves its digest.
    if ARGV[4] ~= '' and record[3] == ARGV[4] and record[4] and record[4] ~= ARGV[5] then return {'mismatch'} end
    local own = live and record[1] == ARGV[2]
    if live and not own then return {'busy', tostring(tonumber(record[2]) - now)} end
    if record[7] == ARGV[2] then return {'busy', '0'} end
    if not own then
      redis.call('HINCRBY', KEYS[1], 'fence', 1)
      redis.call('HSET', KEYS[1], 'owner', ARGV[2], 'until', now + tonumber(ARGV[3]), 'delivery', ARGV[4], 'digest', ARGV[5], 'claimed', now, 'written', 0)
      local expires = math.max(tonumber(record[5] or 0), now + tonumber(ARGV[6]))
      redis.call('HSET', KEYS[1], 'expires', string.format('%.0f', expires))
      redis.call('PEXPIRE', KEYS[1], string.format('%.0f', expires - now))
    end
    local reply = {'claimed', redis.call('HGET', KEYS[1], 'fence')}
    local fields = redis.call('HGETALL', KEYS[1])
    for at = 1, #fields, 2 do
      if string.sub(fields[at], 1, 5) == 'step:' then
        reply[#reply + 1] = string.sub(fields[at], 6)
        reply[#reply + 1] = fields[at + 1]
      end
    end
    return reply
  `,
  // ARGV: now, owner, fence, lease
  renew: `${HELD} redis.call('HSET', KEYS[1], 'until', now + tonumber(ARGV[4])); return 1`,
  // ARGV: now, owner, fence, number of the write, then the steps, names and values in turn. A write that was held up
  // on a connection of before must not replace a later one.
  advance: `${HELD}
    if tonumber(redis.call('HGET', KEYS[1], 'written') or 0) >= tonumber(ARGV[4]) then return 1 end
    redis.call('HSET', KEYS[1], 'written', ARGV[4])
    for at = 5, #ARGV, 2 do redis.call('HSET', KEYS[1], 'step:' .. ARGV[at], ARGV[at + 1]) end
    return 1
  `,
  // ARGV: now, owner, fence, response, retention of the record and of the response, then the steps in turn
  complete: `${HELD}
    local delivery = redis.call('HGET', KEYS[1], 'delivery')
    for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
      local start = string.sub(field, 1, 5)
      local expires = start == 'answe' and string.match(redis.call('HGET', KEYS[1], field), '^%S+ (%d+) ')
      if start == 'step:' or (expires and tonumber(expires) <= now) then redis.call('HDEL', KEYS[1], field) end
    end
    for at = 7, #ARGV, 2 do redis.call('HSET', KEYS[1], 'step:' .. ARGV[at], ARGV[at + 1]) end
    redis.call('HSET', KEYS[1], 'owner', '', 'ended', ARGV[2], 'until', 0, 'expires', string.format('%.0f', now + tonumber(ARGV[5])))
    if delivery ~= '' then
      local expires = string.format('%.0f', now + tonumber(ARGV[6]))
      local digest = redis.call('HGET', KEYS[1], 'digest')
      redis.call('HSET', KEYS[1], 'answer:' .. delivery, digest .. ' ' .. expires .. ' ' .. ARGV[4])
    end
    redis.call('HDEL', KEYS[1], 'digest')
    redis.call('PEXPIRE', KEYS[1], ARGV[5])
    return 1
  `,
  // ARGV: now, owner, fence
  release: `${HELD}
    redis.call('HSET', KEYS[1], 'owner', '', 'ended', ARGV[2], 'until', 0)
    redis.call('HDEL', KEYS[1], 'digest')
    return 1
  `,
  // ARGV: now. Returns the time, and the fields of the record.
  read: `${NOW} return {tostring(now), redis.call('HGETALL', KEYS[1])}`,
}
