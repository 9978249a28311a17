import type { RedisConnection } from './redis-connection.ts'

/** What Redis says of each setting, and the value with which it loses no record. */
const SETTINGS = [
  { name: 'maxmemory-policy', found: /maxmemory_policy:([\w-]+)/, right: 'noeviction' },
  { name: 'appendonly', found: /aof_enabled:(\d)/, right: '1' },
  { name: 'appendfsync', found: /appendfsync\W+(\w+)/, right: 'always' },
]

/**
 * Finds settings of Redis that can lose a record, and with it repeat an effect.
 *
 * @returns one warning for all of them; `undefined` if there is none
 * @throws if Redis does not answer
 */
export async function findRisks({
  sendCommand,
}: Pick<RedisConnection, 'sendCommand'>): Promise<string | undefined> {
  async function ask(...command: string[]): Promise<string> {
    try {
      return JSON.stringify(await sendCommand(command))
    } catch (error) {
      // Its permissions may not allow it, and some providers do not have it.
      if (error instanceof Error && /NOPERM|unknown command/i.test(error.message)) return ''
      throw error
    }
  }
  // A provider may have one of the two commands only.
  const answers = await Promise.all([
    ask('INFO', 'memory'),
    ask('INFO', 'persistence'),
    ask('CONFIG', 'GET', 'appendfsync'),
  ])
  const text = answers.join(' ')
  const risks = SETTINGS.flatMap(({ name, found, right }) => {
    const value = found.exec(text)?.[1]
    if (value === undefined) return `${name} can’t be read`
    return value === right ? [] : `${name} is ${value === '0' ? 'no' : value}`
  })
  if (risks.length === 0) return undefined
  return `Redis may lose records, and effects may be repeated: ${risks.join(', ')}. docs/scaling.md has the settings.`
}
