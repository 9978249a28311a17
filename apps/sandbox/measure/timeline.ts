/**
 * Measures the timeline with thousands of events in a real browser, and prints the figures:
 * `pnpm --filter @org/sandbox measure`.
 *
 * @module
 */
import { startPage } from '../src/page/server.ts'
import { startWorld } from '../src/world.ts'
import { openBrowser } from '../test/page/browser.ts'

const EVENTS = 5_000
const AT_ONCE = 20
const FRAMES = 300

const world = await startWorld({ PORT: '0' })
const page = await startPage(world, 0)
page.ready()
const send = (number: number) =>
  fetch(`${world.url}/mailer/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'webhook-id': `evt_${number}` },
    body: JSON.stringify({
      name: 'FUNCTION_CALL',
      functionCall: {
        name: 'sendEmail',
        arguments: { to: 'ada@example.com', subject: `No. ${number}`, textBody: 'x'.repeat(500) },
      },
    }),
  }).then((response) => response.arrayBuffer())
for (let number = 0; number < EVENTS; number += AT_ONCE) {
  await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => send(number + index)))
}
global.gc?.()
const { heapUsed } = process.memoryUsage()

const browser = await openBrowser()
const tab = await browser.newPage({ viewport: { width: 1280, height: 800 } })
const session = await tab.context().newCDPSession(tab)
await session.send('Performance.enable')
await tab.goto(`${page.url}/timeline`)
await tab
  .locator('#shown')
  .getByText(`${EVENTS.toLocaleString('en-US')} events`)
  .waitFor()
const paint = await tab.evaluate(
  () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
)

/** Scrolls through the whole list, a step a frame, and takes the time of each frame. */
const frames = await tab.evaluate(async (count) => {
  const list = document.querySelector('#rows')
  if (!list) return []
  const times: number[] = []
  const step = (list.scrollHeight - list.clientHeight) / count
  let before = performance.now()
  for (let frame = 0; frame < count; frame += 1) {
    list.scrollTop += step
    await new Promise(requestAnimationFrame)
    const now = performance.now()
    times.push(now - before)
    before = now
  }
  return times
}, FRAMES)
frames.sort((a, b) => a - b)
const rows = await tab.locator('.entry').count()
const { metrics } = await session.send('Performance.getMetrics')
const metric = (name: string) => metrics.find((one) => one.name === name)?.value ?? Number.NaN

const mebibytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`
const milliseconds = (time = Number.NaN) => `${time.toFixed(0)} ms`
console.log(`events                    ${EVENTS}`)
console.log(`first contentful paint    ${milliseconds(paint)}`)
console.log(`frame, median             ${milliseconds(frames[Math.floor(frames.length / 2)])}`)
console.log(`frame, 99th percentile    ${milliseconds(frames[Math.floor(frames.length * 0.99)])}`)
console.log(`frame, longest            ${milliseconds(frames.at(-1))}`)
console.log(`events in the page        ${rows}`)
console.log(`nodes in the page         ${metric('Nodes')}`)
console.log(`heap of the page          ${mebibytes(metric('JSHeapUsedSize'))}`)
console.log(`heap of the sandbox       ${mebibytes(heapUsed)}`)

await browser.close()
await page.close()
await world.close()
