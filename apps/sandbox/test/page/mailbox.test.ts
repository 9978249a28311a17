import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { describeInBrowser, eventually } from './support.ts'

const order = {
  to: ['ada@example.com', 'grace@example.com'],
  subject: 'Your order',
  htmlBody: '<h1>Hello Ada</h1><p>See <a href="https://shop.example/42?a=1&amp;b=2">the order</a>.</p>',
  textBody: 'It left the house today.',
  headers: { 'X-Order': '42' },
  metadata: { customer: 'no. 7' },
  attachments: [
    { name: 'bill.txt', contentType: 'text/plain', content: btoa('Twelve euros.'.repeat(4_000)) },
  ],
}

describeInBrowser('the mailbox', (visit) => {
  it('shows a mail live in a line, and opens it beside the list, in tabs', async () => {
    const { tab, call, see, complaints } = await visit('/mailbox')
    await see('No mail yet')
    await call('sendEmail', order)
    const row = tab.locator('.mail')
    await row.click()
    const cells = await row.locator('> *').allTextContents()
    const expected = ['ada@example.com, grace@example.com', 'Your order It left the house today.', 'Shop']
    expect(cells.slice(0, 4)).toEqual([...expected, '1 file'])
    const mail = tab.getByRole('article', { name: 'Mail: Your order' })
    await mail.waitFor()
    await call('sendEmail', { to: 'a@b.example', subject: 'Bill \u202efdp.exe', textBody: 'x' })
    await see('Bill \\u202efdp.exe', 'Mailbox 2')
    await tab.frameLocator('iframe').getByRole('heading', { name: 'Hello Ada' }).waitFor()
    const open = (name: string) => mail.getByRole('link', { name, exact: true }).click()
    await open('Text')
    await mail.getByText('It left the house today.').waitFor()
    await open('Source')
    for (const text of ['<h1>Hello Ada</h1>', 'X-Order', 'no. 7', '"MessageStream": "outbound"'])
      await mail.getByText(text).first().waitFor()
    await open('Files 1')
    const [download] = await Promise.all([tab.waitForEvent('download'), open('Save')])
    expect(download.suggestedFilename()).toBe('bill.txt')
    expect(await readFile(await download.path(), 'utf8')).toBe('Twelve euros.'.repeat(4_000))
    await open('sent by event 1')
    await tab.getByRole('article', { name: 'Event 1' }).waitFor()
    expect(complaints).toEqual([])
  })

  it('finds mails by their words, keeps the page of the list, asks before it removes them, and brings them back', async () => {
    const { world, tab, call, see, press, follow, dialog } = await visit('/mailbox')
    const messages = Array.from({ length: 230 }, (_, index) => ({
      ...{ to: `c${index}@example.com`, subject: `Offer ${index}`, textBody: 'Hello' },
    }))
    await call('sendEmails', { messages })
    await call('sendEmail', order)
    await see('Mailbox 231')
    await follow(/older/)
    const rows = tab.locator('.mail')
    const ordered = rows.filter({ hasText: 'Your order' })
    await ordered.waitFor({ state: 'detached' })
    const subject = await rows.nth(2).locator('strong').textContent()
    await rows.first().focus()
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await tab.keyboard.press(key)
    await tab.getByRole('article', { name: `Mail: ${subject}`, exact: true }).waitFor()
    expect([await tab.locator('.mail[aria-current]').count(), await ordered.count()]).toEqual([1, 0])
    await tab.getByLabel('Find').fill('bill.txt HOUSE')
    await eventually(() => rows.locator('strong').allTextContents()).toEqual(['Your order'])
    await press('Clear')
    await dialog.getByText('Remove 231 mails, also those that the search hides?').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(world.mail.messages).toHaveLength(231)
    await tab.getByLabel('Find').fill('nobody')
    await follow('Show every mail')
    await press('Clear')
    await dialog.getByRole('button', { name: 'Clear' }).click()
    await see('No mail yet')
    await press('Undo')
    await see('Mailbox 231')
    expect(await tab.getByRole('button', { name: 'Undo' }).count()).toBe(0)
  })
})
