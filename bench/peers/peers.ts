/**
 * The compared mail SDKs, each behind the same functions. Each is loaded from a project into which npm has installed
 * nothing else.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'

export interface Mail {
  from: string
  to: string[]
  subject: string
  text: string
}

export interface Client {
  send(mail: Mail, signal?: AbortSignal): Promise<unknown>
  sendMany(mails: Mail[]): Promise<unknown>
}

export interface Peer {
  name: string
  takesSignal: boolean
  /** The option that points it at a server on this machine. */
  pointedBy: string
  /** A whole program that sends one mail. */
  program: string
  connect(project: string, port: number): Client
}

const PROGRAM_MAIL = '{ from: "a@example.com", to: "b@example.com", subject: "Hello", text: "Hi" }'

/** Ours first. */
export const peers: readonly Peer[] = [
  {
    name: '@org/mailer',
    takesSignal: true,
    pointedBy: '`baseUrl`',
    program: `import { createMailer } from '@org/mailer'
    const mailer = createMailer({ apiToken: globalThis.TOKEN })
    await mailer.sendEmail({ from: 'a@example.com', to: 'b@example.com', subject: 'Hello', textBody: 'Hi' })`,
    connect(project, port) {
      const { createMailer }: typeof import('@org/mailer') = load(project, '@org/mailer')
      const client = createMailer({ apiToken: 'server-token', baseUrl: `http://127.0.0.1:${port}` })
      const toMessage = ({ text, ...rest }: Mail) => ({ ...rest, textBody: text })
      return {
        send: (mail, signal) => client.sendEmail(toMessage(mail), { signal }),
        sendMany: (mails) => client.sendEmails(mails.map(toMessage)),
      }
    },
  },
  {
    name: 'postmark',
    takesSignal: false,
    pointedBy: '`requestHost` and `useHttps`',
    program: `import { ServerClient } from 'postmark'
    const client = new ServerClient(globalThis.TOKEN)
    await client.sendEmail({ From: 'a@example.com', To: 'b@example.com', Subject: 'Hello', TextBody: 'Hi' })`,
    connect(project, port) {
      const { ServerClient }: typeof import('postmark') = load(project, 'postmark')
      const client = new ServerClient('server-token', { requestHost: `127.0.0.1:${port}`, useHttps: false })
      const toMessage = ({ from, to, subject, text }: Mail) => ({
        From: from,
        To: to.join(','),
        Subject: subject,
        TextBody: text,
        MessageStream: 'outbound',
      })
      return {
        send: (mail) => client.sendEmail(toMessage(mail)),
        sendMany: (mails) => client.sendEmailBatch(mails.map(toMessage)),
      }
    },
  },
  {
    name: 'resend',
    takesSignal: true,
    pointedBy: '`baseUrl`',
    program: `import { Resend } from 'resend'
    await new Resend(globalThis.TOKEN).emails.send(${PROGRAM_MAIL})`,
    connect(project, port) {
      const { Resend }: typeof import('resend') = load(project, 'resend')
      const client = new Resend('re_token', { baseUrl: `http://127.0.0.1:${port}` })
      return {
        send: (mail, signal) => client.emails.send(mail, signal ? { signal } : {}),
        sendMany: (mails) => client.batch.send(mails),
      }
    },
  },
]

function load(project: string, name: string) {
  return createRequire(join(project, 'package.json'))(name)
}
