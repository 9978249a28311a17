import { expect, it } from 'vitest'
import { startPage } from '../../src/page/server.ts'
import { createPrinter } from '../../src/walk/print.ts'
import { runWalks } from '../../src/walk/run-walks.ts'
import { walksOf } from '../../src/walk/walks.ts'
import { describeInBrowser, eventually } from './support.ts'

describeInBrowser('a newcomer on the page', (visit) => {
  it('reads what has just happened, with the figures of the walk', async () => {
    const { url, world, tab, see } = await visit()
    const printer = createPrinter({ write: () => {}, colours: false }, world)
    await runWalks(walksOf(world), world, printer, new AbortController().signal)
    await tab.goto(url)
    await tab.getByRole('heading', { level: 1, name: 'Every event takes effect once' }).waitFor()
    const [events, calls] = ['events', 'calls'].map((what) => expect.stringMatching(`^\\d\\d ${what}$`))
    const figures = [events, '1 retry', '1 replay', calls, '0 effects repeated']
    expect(await tab.locator('.figure').allTextContents()).toEqual(figures)
    await see('with 2 attempts', 'waited')
  })

  it('deploys, sends, breaks the provider and loses a response, in four clicks, without a second mail', async () => {
    const { world, tab, see, press, complaints } = await visit()
    const story = tab.getByRole('region', { name: 'What has just happened' })
    for (const [name, told] of [
      ['Deploy', 'DEPLOYMENT_CREATED worked'],
      ['Send', 'sendEmail worked'],
      ['Break it, and send', 'with 2 attempts'],
      ['Lose it, and deliver again', '1 mail, 2 deliveries.'],
    ] as const) {
      // The step at hand is the only one with a button; the others are folded.
      expect(await tab.locator('#tour button').allTextContents()).toEqual([name])
      await press(name)
      await story.getByText(told).first().waitFor()
    }
    await see('connection cut', 'sendEmail #4, replayed as #5', '0 effects repeated')
    expect(world.mail.messages).toHaveLength(3)
    // The provider refused the first attempt of the second mail; the response of the third one was lost.
    const calls = ['GET /server 200', 'POST /email 200', 'POST /email 429', 'POST /email 200']
    expect(world.providerCalls()).toEqual([...calls, 'POST /email undefined'])
    const made = ['event 1', 'event 2', 'event 3', 'event 5']
    await eventually(() => tab.locator('.step.done a').allTextContents()).toEqual(made)
    const heights = await tab.locator('.step').evaluateAll((all) => all.map((one) => one.clientHeight))
    expect(Math.max(...heights)).toBeLessThanOrEqual(41)
    await story.getByRole('link', { name: 'See the one mail' }).click()
    await tab.locator('.mail').first().and(tab.locator('[aria-current]')).waitFor()
    expect(complaints).toEqual([])
  })

  it('sees at every width that the connection is lost, or that a script failed, and is up to date afterwards', async () => {
    const { url, world, tab, call } = await visit()
    // Some browsers have none.
    await tab.addInitScript('delete globalThis.SharedWorker')
    const banner = tab.locator('#banner')
    const live = () => tab.getByText('Live', { exact: true }).waitFor()
    const first = await startPage(world, 0)
    first.ready()
    await tab.goto(`${first.url}/timeline`)
    await live()
    expect(await banner.isVisible()).toBe(false)
    await first.close()
    await banner.getByText('Not connected').waitFor()
    for (const width of [390, 1_440]) {
      await tab.setViewportSize({ width, height: 800 })
      expect(await banner.boundingBox()).toMatchObject({ x: 0, width, height: 40 })
    }
    await tab.locator('#connection').getByText('Not connected').waitFor()
    const second = await startPage(world, Number(new URL(first.url).port))
    second.ready()
    await call('createUser', { emailAddress: 'grace@example.com' }, 'idp')
    await live()
    await tab.locator('.event-row', { hasText: 'createUser' }).waitFor()
    expect(await banner.isVisible()).toBe(false)
    await second.close()

    await tab.route('**/static/forms.js', (route) => route.abort())
    await tab.goto(`${url}/mailbox`)
    await eventually(async () => (await banner.boundingBox())?.height).toBe(40)
    await tab.getByText('Not live: scripts failed.').waitFor()
    expect(await tab.locator('#connection').textContent()).toBe('Connecting')
  })
})
