import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  deliverFromOutside,
  describeInBrowser,
  eventually,
  openBrowser,
  openTab,
  sandboxForTest,
} from './support.ts'

describeInBrowser('a newcomer on the page', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  it('deploys, sends, breaks the provider and delivers again, in four clicks, and no second mail comes', async () => {
    const { url, world } = await sandboxForTest()
    const { tab, complaints } = await openTab(browser, url)
    let clicks = 0
    const click = async (name: string) => {
      await tab.getByRole('button', { name, exact: true }).click()
      clicks += 1
    }

    await click('Deploy')
    await tab.getByText('dep_mailer_1 is running').waitFor()
    await click('Send')
    await tab.locator('#latest-mail').getByText('1 mail', { exact: true }).waitFor()
    await click('Break it, and send')
    await tab.locator('#latest').getByText('429').waitFor()
    await tab.locator('#latest-mail').getByText('2 mails', { exact: true }).waitFor()
    await click('Deliver again')
    await tab.locator('#latest').getByText('replayed').waitFor()

    expect(clicks).toBe(4)
    expect(world.mail.emulator?.messages).toHaveLength(2)
    expect(await tab.locator('#latest-mail [data-count]').textContent()).toBe('2 mails')
    // The provider refused the first call of the second mail, and took the second one.
    expect(world.mail.emulator?.calls.map(({ path, status }) => `${path} ${status}`)).toEqual([
      '/server 200',
      '/email 200',
      '/email 429',
      '/email 200',
    ])
    await eventually(() => tab.locator('.step .status').allTextContents()).toEqual(Array(4).fill('✓done'))
    expect(complaints).toEqual([])
  })

  it('finds the mail in the mailbox, and what it holds', async () => {
    const { url } = await sandboxForTest()
    const { tab, complaints } = await openTab(browser, `${url}/functions?route=mailer&function=sendEmail`)
    await tab.getByText('more fields').click()
    await tab.getByLabel('textBody').fill('Hello in plain text.')
    await tab.getByLabel('headers').fill('{"X-Order": "42"}')
    await tab.getByLabel('metadata').fill('{"order": "no. 42"}')
    await tab.getByRole('button', { name: 'Call sendEmail' }).click()
    await tab.locator('#call-result').getByText('messageId').waitFor()
    await tab.getByRole('link', { name: 'Mailbox' }).click()
    const frame = tab.frameLocator('iframe')
    expect(await frame.locator('h1').textContent()).toBe('Hello Ada,')
    for (const text of ['Hello in plain text.', 'X-Order', 'no. 42', 'Shop <shop@example.com>']) {
      await tab.getByRole('article').getByText(text).waitFor()
    }
    expect(complaints).toEqual([])
  })

  it('sees people that are created, without touching the page again', async () => {
    const { url, world } = await sandboxForTest()
    const { tab } = await openTab(browser, `${url}/people`)
    await tab.getByText('Nobody yet').waitFor()
    const event = {
      name: 'FUNCTION_CALL',
      functionCall: {
        name: 'createUser',
        arguments: { emailAddress: 'grace@example.com', firstName: 'Grace' },
      },
    }
    await deliverFromOutside(world.url, 'idp', event)
    await tab.getByRole('cell', { name: 'grace@example.com' }).waitFor()
    expect(await tab.getByRole('link', { name: 'People' }).textContent()).toContain('1')
  })
})
