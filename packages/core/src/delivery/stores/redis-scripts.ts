const NOW = `
  local now = tonumber(ARGV[1])
  if now == 0 then local time = redis.call('TIME'); now = time[1] * 1000 + math.floor(time[2] / 1000) end
`

const HELD = `${NOW}
  local held = redis.call('HMGET', KEYS[1], 'owner', 'fence', 'until')
  if held[1] ~= ARGV[2] or held[2] ~= ARGV[3] or tonumber(held[3] or 0) <= now then return 0 end
`

/**
 * One Lua script for each operation. `KEYS[1]` is the record of the subject, and `KEYS[2]` the answer to the delivery:
 * both are in one slot, so the scripts also run in a cluster. `ARGV[1]` is the time, or 0 for the time of Redis.
 *
 * A record is a hash, and an answer a text. The expiry of a key is also in its value, for `now` from outside.
 */
export const scripts = {
  // ARGV: now, owner, lease, delivery, digest, retention. A request that was held up on a connection of before must
  // not claim again for an owner that has ended its work.
  claim: `${NOW}
    local record = redis.call('HMGET', KEYS[1], 'owner', 'until', 'delivery', 'digest', 'expires', 'ended')
    local live = record[1] and record[1] ~= '' and tonumber(record[2]) > now
    if not live and record[5] and tonumber(record[5]) <= now then redis.call('DEL', KEYS[1]); record = {} end
    if ARGV[4] ~= '' then
      local answer = redis.call('GET', KEYS[2])
      if answer then
        if tonumber(string.match(answer, '^%S+ (%d+) ')) > now then return {'answered', answer} end
        redis.call('DEL', KEYS[2])
      end
    end
    -- A holder that vanished leaves its digest.
    if ARGV[4] ~= '' and record[3] == ARGV[4] and record[4] and record[4] ~= ARGV[5] then return {'mismatch'} end
    local own = live and record[1] == ARGV[2]
    if live and not own then return {'busy', tostring(tonumber(record[2]) - now)} end
    if record[6] == ARGV[2] then return {'busy', '0'} end
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
  // ARGV: now, owner, fence, status and code, time of the response, body, retention of the record and of the response,
  // whether the record ends with the response, then the steps in turn
  complete: `${HELD}
    local record = redis.call('HMGET', KEYS[1], 'delivery', 'digest', 'claimed')
    if record[1] ~= '' then
      local expires = string.format('%.0f', now + tonumber(ARGV[8]))
      local after = ARGV[5] == '' and '' or string.format('%.0f', tonumber(ARGV[5]) - tonumber(record[3]))
      local answer = table.concat({record[2], expires, ARGV[3], record[3], ARGV[4], after, ARGV[6]}, ' ')
      redis.call('SET', KEYS[2], answer, 'PX', ARGV[8])
      if ARGV[9] == '1' then redis.call('DEL', KEYS[1]); return 1 end
    end
    for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
      if string.sub(field, 1, 5) == 'step:' then redis.call('HDEL', KEYS[1], field) end
    end
    for at = 10, #ARGV, 2 do redis.call('HSET', KEYS[1], 'step:' .. ARGV[at], ARGV[at + 1]) end
    redis.call('HSET', KEYS[1], 'owner', '', 'ended', ARGV[2], 'until', 0, 'expires', string.format('%.0f', now + tonumber(ARGV[7])))
    redis.call('HDEL', KEYS[1], 'digest')
    redis.call('PEXPIRE', KEYS[1], ARGV[7])
    return 1
  `,
  // ARGV: now, owner, fence
  release: `${HELD}
    redis.call('HSET', KEYS[1], 'owner', '', 'ended', ARGV[2], 'until', 0)
    redis.call('HDEL', KEYS[1], 'digest')
    return 1
  `,
  // ARGV: now, owner as JSON, retention. Returns the owner.
  reserve: `${NOW}
    local record = redis.call('HMGET', KEYS[1], 'step:owner', 'expires')
    if record[1] and tonumber(record[2]) > now then return record[1] end
    local expires = string.format('%.0f', now + tonumber(ARGV[3]))
    redis.call('HINCRBY', KEYS[1], 'fence', 1)
    redis.call('HSET', KEYS[1], 'step:owner', ARGV[2], 'owner', '', 'until', 0, 'delivery', '', 'claimed', now, 'expires', expires)
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
    return ARGV[2]
  `,
  // ARGV: now. Returns the time, the fields of the record, and the answer.
  read: `${NOW} return {tostring(now), redis.call('HGETALL', KEYS[1]), redis.call('GET', KEYS[2]) or ''}`,
  // ARGV: now, filler. Every command of the scripts above, so that a missing permission shows. It leaves nothing
  // behind. Redis counts the filler, which is not written, when it decides whether there is room.
  probe: `${NOW}
    redis.call('HSET', KEYS[1], 'fence', 0, 'until', now)
    redis.call('HINCRBY', KEYS[1], 'fence', 1)
    redis.call('PEXPIRE', KEYS[1], 1000)
    redis.call('SET', KEYS[2], now, 'PX', 1000)
    redis.call('GET', KEYS[2])
    redis.call('HGET', KEYS[1], 'fence')
    redis.call('HMGET', KEYS[1], 'fence', 'until')
    redis.call('HKEYS', KEYS[1])
    redis.call('HGETALL', KEYS[1])
    redis.call('HDEL', KEYS[1], 'until')
    redis.call('DEL', KEYS[1], KEYS[2])
    return 1
  `,
}
