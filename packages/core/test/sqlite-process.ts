/** A process that completes calls in the SQLite file of its first parameter, and prints the states of its claims. */
import { sqliteStore } from '@org/core/stores/sqlite'

const [file = '', events = ''] = process.argv.slice(2)
const store = sqliteStore({ file })
const keep = { keepMs: 60_000, keepResponseMs: 60_000 }

/** Each process asks for the same calls. */
async function run(at: number): Promise<string> {
  try {
    const result = await store.claim({
      subject: `call/${at}`,
      delivery: { id: `${at}`, digest: 'd' },
      leaseMs: 60_000,
    })
    if (result.state !== 'claimed') return result.state
    const response = { status: 200, body: 'encrypted' }
    const completed = await store.complete(result.lease, { response, progress: {}, ...keep })
    return completed ? 'completed' : 'lost'
  } catch (error) {
    return String(error)
  }
}

process.stdout.write(
  JSON.stringify(await Promise.all(Array.from({ length: Number(events) }, (_, at) => run(at)))),
)
await store.close()
