import type { RedisConnection } from './redis-connection.ts'

const ADVICE = 'docs/scaling.md has the settings.'

/**
 * Finds settings of Redis that can lose a record, and with it repeat an effect.
 *
 * @returns a warning for each
 * @throws if Redis does not answer
 */
export async function findRisks({ sendCommand }: Pick<RedisConnection, 'sendCommand'>): Promise<string[]> {
  async function ask(...command: string[]): Promise<string> {
    try {
      return JSON.stringify(await sendCommand(command))
    } catch (error) {
      // Its permissions may not allow it, and some providers do not have it.
      if (error instanceof Error && /NOPERM|unknown command/i.test(error.message)) return ''
      throw error
    }
  }
  const [memory, persistence, fsync] = await Promise.all([
    ask('INFO', 'memory'),
    ask('INFO', 'persistence'),
    ask('CONFIG', 'GET', 'appendfsync'),
  ])
  const policy = /maxmemory_policy:([\w-]+)/.exec(memory)?.[1]
  const appendOnly = /aof_enabled:(\d)/.exec(persistence)?.[1]
  const sync = /appendfsync\W+(\w+)/.exec(fsync)?.[1]
  const risks: string[] = []
  if (policy !== undefined && policy !== 'noeviction')
    risks.push(`Redis may evict records (maxmemory-policy ${policy}): set it to noeviction. ${ADVICE}`)
  if (appendOnly === '0')
    risks.push(`Redis forgets records at a restart (appendonly no): set it to yes. ${ADVICE}`)
  else if (sync !== undefined && sync !== 'always')
    risks.push(
      `Redis may lose the last records at a crash (appendfsync ${sync}): set it to always. ${ADVICE}`,
    )
  const unknown = [
    ...(policy === undefined ? ['maxmemory-policy'] : []),
    ...(appendOnly === undefined ? ['appendonly'] : []),
    ...(sync === undefined && appendOnly !== '0' ? ['appendfsync'] : []),
  ]
  if (unknown.length > 0)
    risks.push(`Redis does not let the host read ${unknown.join(', ')}: check them by hand. ${ADVICE}`)
  return risks
}
