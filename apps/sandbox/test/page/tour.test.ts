import { expect, it, onTestFinished } from 'vitest'
import { startPage } from '../../src/page/server.ts'
import { createPrinter } from '../../src/walk/print.ts'
import { runWalks } from '../../src/walk/run-walks.ts'
import { walksOf } from '../../src/walk/walks.ts'
import { deliverFromOutside, describeInBrowser, eventually, functionCall } from './support.ts'

describeInBrowser('a newcomer on the page', (visit) => {
  it('reads what has just happened, with the figures of the walk', async () => {
    const { url, world, tab } = await visit()
    const silent = { write: () => {}, colours: false }
    await runWalks(walksOf(world), world, createPrinter(silent, world), new AbortController().signal)
    await tab.goto(url)
    await tab.getByRole('heading', { level: 1, name: 'Every event takes effect once' }).waitFor()
    const figures = await tab.locator('.figure').allTextContents()
    expect(figures[0]).toBe('51 events')
    expect(figures[2]).toBe('1 replay')
    expect(figures[4]).toBe('0 effects twice')
    const story = tab.getByRole('region', { name: 'What has just happened' })
    await story.getByText('with 2 attempts').waitFor()
    await story.getByText('waited').first().waitFor()
  })

  it('deploys, sends, breaks the provider and loses a response, in four clicks, without a second mail', async () => {
    const { world, tab, complaints } = await visit()
    const story = tab.getByRole('region', { name: 'What has just happened' })
    const step = async (name: string, told: string) => {
      // The step at hand is the only one with a button; the others are folded.
      expect(await tab.locator('#tour button').allTextContents()).toEqual([name])
      await tab.getByRole('button', { name, exact: true }).click()
      await story.getByText(told).first().waitFor()
    }
    await step('Deploy', 'DEPLOYMENT_CREATED worked')
    await step('Send', 'sendEmail worked')
    await step('Break it, and send', 'with 2 attempts')
    await step('Lose it, and deliver again', '1 mail, 2 deliveries.')
    await story.getByText('connection cut').waitFor()
    expect(world.mail.messages).toHaveLength(3)
    // The provider refused the first attempt of the second mail.
    expect(world.mail.calls.map(({ path, status }) => `${path} ${status}`)).toEqual([
      '/server 200',
      '/email 200',
      '/email 429',
      '/email 200',
      // The provider sent the third mail, and its response was lost.
      '/email undefined',
    ])
    await eventually(() => tab.locator('.step.done').count()).toBe(4)
    for (const height of await tab.locator('.step').evaluateAll((all) => all.map((one) => one.clientHeight)))
      expect(height).toBeLessThanOrEqual(41)
    await tab.getByText('0 effects twice').waitFor()
    expect(complaints).toEqual([])
  })

  it.each([390, 1_440])(
    'sees on %d pixels that the connection is lost, and is up to date after it is back',
    async (width) => {
      const { world, tab } = await visit()
      await tab.setViewportSize({ width, height: 800 })
      // Some browsers have none.
      await tab.addInitScript('delete globalThis.SharedWorker')
      const first = await startPage(world, 0)
      first.ready()
      await tab.goto(`${first.url}/timeline`)
      await tab.getByText('Live', { exact: true }).waitFor()
      const banner = tab.locator('#banner')
      expect(await banner.isVisible()).toBe(false)
      await first.close()
      await banner.getByText('Not connected').waitFor()
      expect(await banner.boundingBox()).toMatchObject({ x: 0, width, height: 40 })
      await tab.locator('#connection').getByText('Not connected').waitFor()
      const second = await startPage(world, Number(new URL(first.url).port))
      onTestFinished(second.close)
      second.ready()
      await deliverFromOutside(
        world,
        'idp',
        functionCall('createUser', { emailAddress: 'grace@example.com' }),
      )
      await tab.getByText('Live', { exact: true }).waitFor()
      await tab.locator('.event-row', { hasText: 'createUser' }).waitFor()
      expect(await banner.isVisible()).toBe(false)
    },
  )

  it('sees that a script failed, and that the page is not live', async () => {
    const { url, tab } = await visit()
    await tab.route('**/static/forms.js', (route) => route.abort())
    await tab.goto(`${url}/mailbox`)
    await eventually(async () => (await tab.locator('#banner').boundingBox())?.height).toBe(40)
    await tab.getByText('Not live: scripts failed.').waitFor()
    expect(await tab.locator('#connection').textContent()).toBe('Connecting')
  })
})
