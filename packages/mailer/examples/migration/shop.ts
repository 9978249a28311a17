/**
 * The mails of a shop that came from `postmark`: welcome, password, invoice, digest, and what becomes of them.
 * `packages/mailer/test/migration.test.ts` runs it.
 */
import type { DatabaseSync } from 'node:sqlite'
import { type BatchJournal, isMailError, type Mailer, type MessageRecord } from '@org/mailer'
import { parseMailEvent } from '@org/mailer/events'
import { render } from '@react-email/render'
import { createElement, type ReactNode } from 'react'

export interface Customer {
  id: number
  name: string
  email: string
}

const tables = `
  create table if not exists mails (batch text, key text, record text, primary key (batch, key));
  create table if not exists silent (email text primary key)`

function Letter({ name, children }: { name: string; children?: ReactNode }) {
  return createElement(
    'article',
    null,
    createElement('img', { src: 'cid:logo', alt: 'The shop' }),
    createElement('p', null, `Hello ${name}!`),
    children,
  )
}

const letterTo = (name: string, text: string) => () => render(createElement(Letter, { name }, text))

/** Makes the mails of the shop. */
export function createShop(mailer: Mailer, database: DatabaseSync, logo: Uint8Array) {
  database.exec(tables)
  const attachments = [{ name: 'logo.png', content: logo, contentType: 'image/png', contentId: 'logo' }]

  return {
    /** postmark: `sendEmail({ …, HtmlBody: await render(<Letter />) })`. */
    welcome: ({ name, email }: Customer) =>
      mailer.sendEmail({
        to: { name, address: email },
        subject: 'Welcome',
        htmlBody: letterTo(name, 'It is good to have you here.'),
        attachments,
        tag: 'welcome',
      }),

    /** Tells whether the page may say “try again”, “look into your inbox”, or “this address gets no mail”. */
    async resetPassword({ name, email }: Customer, link: string) {
      try {
        const textBody = `Hello ${name}, choose a new password: ${link}`
        await mailer.sendEmail({ to: email, subject: 'Your password', textBody, trackLinks: 'None' })
        return 'sent'
      } catch (error) {
        if (!isMailError(error)) throw error
        if (error.rejected.length > 0) return 'inactive'
        // A second mail with another link would confuse, so the customer looks first.
        return error.effect === 'unknown' ? 'look first' : error.retryable ? 'try again' : 'failed'
      }
    },

    /** postmark: `Attachments: [new Attachment(name, pdf.toString('base64'), 'application/pdf')]`. */
    invoice: ({ name, email }: Customer, number: string, pdf: Uint8Array) =>
      mailer.sendEmail({
        to: { name, address: email },
        subject: `Invoice ${number}`,
        htmlBody: letterTo(name, 'Your invoice is attached.'),
        attachments: [
          ...attachments,
          { name: `${number}.pdf`, content: pdf, contentType: 'application/pdf' },
        ],
        metadata: { invoice: number },
      }),

    /**
     * Sends the news to everyone, from a cursor. The same name goes on where a run ended: nobody gets them twice.
     *
     * @param found whether the provider’s activity has the mail of a customer whose mail is of unknown fate
     */
    digest(name: string, customers: Iterable<Customer>, stop: AbortSignal, found?: (key: string) => boolean) {
      function* messages() {
        const isSilent = database.prepare('select 1 from silent where email = ?')
        for (const { id, name, email } of customers) {
          if (isSilent.get(email)) continue
          const textBody = `Hello ${name}, read on: https://shop.example/?at=${Date.now()}`
          yield {
            key: id,
            to: { name, address: email },
            subject: 'Your week',
            textBody,
            messageStream: 'broadcast',
          }
        }
      }
      const resend = ({ key = '', status }: { key?: string | undefined; status: string }) =>
        status === 'unknown' && found?.(key) === false
      return mailer.sendEmails(messages(), { journal: journalOf(name, database), stop, resend })
    },

    /** The endpoint of the provider’s webhook. Its URL holds a password, which your server checks first. */
    async onEvent(request: Request): Promise<Response> {
      const event = parseMailEvent(await request.json())
      const isSilent =
        event.type === 'spamComplaint' ||
        (event.type === 'bounce' && event.isInactive) ||
        (event.type === 'subscriptionChange' && event.isSuppressed)
      if (isSilent) database.prepare('insert or ignore into silent values (?)').run(event.recipient)
      return new Response(null, { status: 204 })
    },
  }
}

function journalOf(batch: string, database: DatabaseSync): BatchJournal {
  const select = database.prepare('select record from mails where batch = ? and key = ?')
  const upsert = database.prepare('insert or replace into mails values (?, ?, ?)')
  const remove = database.prepare('delete from mails where batch = ? and key = ?')
  return {
    read(keys) {
      const found = new Map<string, MessageRecord>()
      for (const key of keys) {
        const record = select.get(batch, key)?.record
        if (typeof record === 'string') found.set(key, JSON.parse(record))
      }
      return found
    },
    write(records) {
      database.exec('begin')
      for (const [key, record] of records) {
        if (record) upsert.run(batch, key, JSON.stringify(record))
        else remove.run(batch, key)
      }
      database.exec('commit')
    },
  }
}
