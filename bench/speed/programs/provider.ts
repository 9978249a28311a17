/** A provider of mails, which logs its port. `DELAY_MS` comes from the environment. */
import { startProvider } from '../../../tooling/runtimes/provider.ts'

const { url } = await startProvider({ delayMs: Number(process.env.DELAY_MS) })
console.log(JSON.stringify({ port: Number(new URL(url).port) }))
process.once('SIGTERM', () => process.exit(0))
