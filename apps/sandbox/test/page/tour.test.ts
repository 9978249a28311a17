import { expect, it, onTestFinished } from 'vitest'
import { startPage } from '../../src/page/server.ts'
import { deliverFromOutside, describeInBrowser, eventually, functionCall } from './support.ts'

describeInBrowser('a newcomer on the page', (visit) => {
  it('deploys, sends, breaks the provider and delivers again, in four clicks, without a second mail', async () => {
    const { world, tab, complaints } = await visit()
    const click = (name: string) => tab.getByRole('button', { name, exact: true }).click()

    await click('Deploy')
    await tab.getByText('dep_mailer_1 is running').waitFor()
    await click('Send')
    await tab.locator('#latest-mail').getByText('1 mail', { exact: true }).waitFor()
    await click('Break it, and send')
    await tab.locator('#latest').getByText('429').waitFor()
    await tab.locator('#latest-mail').getByText('2 mails', { exact: true }).waitFor()
    await click('Deliver again')
    await tab.locator('#latest').getByText('replayed').waitFor()

    expect(world.mail.emulator?.messages).toHaveLength(2)
    expect(await tab.locator('#latest-mail [data-count]').textContent()).toBe('2 mails')
    // The provider refused the first attempt of the second mail.
    expect(world.mail.emulator?.calls.map(({ path, status }) => `${path} ${status}`)).toEqual([
      '/server 200',
      '/email 200',
      '/email 429',
      '/email 200',
    ])
    await eventually(() => tab.locator('.step .status').allTextContents()).toEqual(Array(4).fill('✓done'))
    expect(complaints).toEqual([])
  })

  it('sees that the connection is lost, and is up to date after it is back', async () => {
    const { world, tab } = await visit('/people')
    const first = await startPage(world, 0)
    first.ready()
    await tab.goto(`${first.url}/people`)
    await tab.getByText('Nobody yet').waitFor()
    await first.close()
    await tab.getByText('Not connected').waitFor()
    const second = await startPage(world, Number(new URL(first.url).port))
    onTestFinished(second.close)
    second.ready()
    await deliverFromOutside(world, 'idp', functionCall('createUser', { emailAddress: 'grace@example.com' }))
    await tab.getByText('Live', { exact: true }).waitFor()
    await tab.getByRole('cell', { name: 'grace@example.com' }).waitFor()
    expect(await tab.getByRole('link', { name: 'People' }).textContent()).toContain('1')
  })
})
