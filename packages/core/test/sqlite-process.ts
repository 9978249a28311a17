/** A process that completes calls in the SQLite file of its first parameter, and prints the states of its claims. */
import { sqliteStore } from '@org/core/stores/sqlite'

const [file = '', events = ''] = process.argv.slice(2)
const store = sqliteStore({ file })
const completion = { response: { status: 200, body: '' }, progress: {}, isLiving: false }

/** Each process asks for the same calls. */
async function run(at: number): Promise<string> {
  const delivery = { id: `${at}`, digest: 'd' }
  const result = await store.claim({ subject: `call/${at}`, delivery, leaseMs: 60_000 })
  if (result.state !== 'claimed') return result.state
  return (await store.complete(result.lease, completion)) ? 'completed' : 'lost'
}

const states = await Promise.all(Array.from({ length: Number(events) }, (_, at) => run(at)))
process.stdout.write(JSON.stringify(states))
await store.close()
