/**
 * The compared mail SDKs, each behind the same functions. Each is loaded from a project into which npm has installed
 * nothing else.
 *
 * @module
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** A mail that every SDK can send. */
export interface Mail {
  from: string
  to: string[]
  subject: string
  text: string
}

/** An SDK that calls a server on this machine. */
export interface Client {
  send(mail: Mail, signal?: AbortSignal): Promise<unknown>
  /** Sends all in one call of the SDK; absent if the SDK has no such call. */
  sendMany?(mails: Mail[]): Promise<unknown>
}

/** An SDK. */
export interface Peer {
  name: string
  protocol: 'http' | 'smtp'
  /** Whether a send accepts an AbortSignal. */
  takesSignal: boolean
  /** The option that points it at a server on this machine. */
  pointedBy: string
  /** A whole program that sends one mail. */
  program: string
  connect(project: string, port: number): Client
}

const toPostmark = ({ from, to, subject, text }: Mail) => ({
  From: from,
  To: to.join(','),
  Subject: subject,
  TextBody: text,
  MessageStream: 'outbound',
})

const PROGRAM_MAIL = '{ from: "a@example.com", to: "b@example.com", subject: "Hello", text: "Hi" }'

const mailer: Peer = {
  name: '@org/mailer',
  protocol: 'http',
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
}

const postmark: Peer = {
  name: 'postmark',
  protocol: 'http',
  takesSignal: false,
  pointedBy: '`requestHost` and `useHttps`',
  program: `import { ServerClient } from 'postmark'
    const client = new ServerClient(globalThis.TOKEN)
    await client.sendEmail({ From: 'a@example.com', To: 'b@example.com', Subject: 'Hello', TextBody: 'Hi' })`,
  connect(project, port) {
    const { ServerClient }: typeof import('postmark') = load(project, 'postmark')
    const client = new ServerClient('server-token', { requestHost: `127.0.0.1:${port}`, useHttps: false })
    return {
      send: (mail) => client.sendEmail(toPostmark(mail)),
      sendMany: (mails) => client.sendEmailBatch(mails.map(toPostmark)),
    }
  },
}

const resend: Peer = {
  name: 'resend',
  protocol: 'http',
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
}

const nodemailer: Peer = {
  name: 'nodemailer',
  protocol: 'smtp',
  takesSignal: true,
  pointedBy: '`host` and `port` of its SMTP transport; the server speaks SMTP',
  program: `import nodemailer from 'nodemailer'
    const transport = nodemailer.createTransport({ host: 'localhost', port: 25 })
    await transport.sendMail(${PROGRAM_MAIL})`,
  connect(project, port) {
    const { createTransport }: typeof import('nodemailer') = load(project, 'nodemailer')
    const transport = createTransport({ host: '127.0.0.1', port, secure: false, ignoreTLS: true })
    return { send: (mail, signal) => transport.sendMail(signal ? { ...mail, signal } : mail) }
  },
}

const sendgrid: Peer = {
  name: '@sendgrid/mail',
  protocol: 'http',
  takesSignal: false,
  pointedBy: "`client.setDefaultRequest('baseUrl', …)`",
  program: `import mail from '@sendgrid/mail'
    mail.setApiKey(globalThis.TOKEN)
    await mail.send(${PROGRAM_MAIL})`,
  connect(project, port) {
    const service: typeof import('@sendgrid/mail') & { client: ApiClient } = load(project, '@sendgrid/mail')
    service.setApiKey('SG.token')
    service.client.setDefaultRequest('baseUrl', `http://127.0.0.1:${port}/`)
    return {
      send: (mail) => service.send({ ...mail }),
      sendMany: (mails) => service.send(mails.map((mail) => ({ ...mail }))),
    }
  },
}

/** The field `client` of the service, which its types lack. */
interface ApiClient {
  setDefaultRequest(key: string, value: unknown): unknown
}

/** Ours first. */
export const peers: readonly Peer[] = [mailer, postmark, resend, nodemailer, sendgrid]

function load(project: string, name: string) {
  return createRequire(join(project, 'package.json'))(name)
}
