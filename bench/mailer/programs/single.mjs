// Single sends, 50 in flight, in turns: single.mjs <port> <rounds> <name=project> …
import { createRequire } from 'node:module'

const [port, rounds, ...named] = process.argv.slice(2)
const IN_FLIGHT = 50
const SENDS = 300
const text = 'It is on its way. '.repeat(10)

function connect(name, project) {
  const load = createRequire(`${project}/package.json`)
  if (name === '@org/mailer') {
    const mailer = load(name).createMailer({ apiToken: 'server-token', baseUrl: `http://127.0.0.1:${port}` })
    return () =>
      mailer.sendEmail({
        from: 'Shop <shop@example.com>',
        to: 'ada@example.org',
        subject: 'Your order',
        textBody: text,
      })
  }
  const client = new (load(name).ServerClient)('server-token', {
    requestHost: `127.0.0.1:${port}`,
    useHttps: false,
  })
  return () =>
    client.sendEmail({
      From: 'Shop <shop@example.com>',
      To: 'ada@example.org',
      Subject: 'Your order',
      TextBody: text,
      MessageStream: 'outbound',
    })
}

async function run(send, total) {
  let begun = 0
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (begun++ < total) await send()
    }),
  )
}

const sends = named.map((pair) => connect(...pair.split('=')))
for (const send of sends) await run(send, 2_000)
const costs = sends.map(() => [])
for (let round = 0; round < Number(rounds); round += 1) {
  for (let turn = 0; turn < sends.length; turn += 1) {
    const at = (round + turn) % sends.length
    const before = process.cpuUsage()
    await run(sends[at], SENDS)
    const { user, system } = process.cpuUsage(before)
    costs[at].push((user + system) / SENDS)
  }
}
console.log(JSON.stringify(costs))
process.exit()
