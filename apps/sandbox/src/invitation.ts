/**
 * What to do with a host that stays up.
 *
 * @module
 */
import { paint, type Terminal, wrap } from './terminal.ts'
import type { World } from './world.ts'

/** Prints how to call the host. The command is not broken into lines of the terminal's width, so that it can be copied. */
export function printInvitation(
  terminal: Terminal,
  { url, mail, idp, idpServer, webhookSecret }: World,
  pageUrl: string | undefined,
): void {
  const paragraph = (text: string) => {
    for (const line of wrap(text, terminal.width)) terminal.write(`${line}\n`)
  }
  const event = {
    name: 'FUNCTION_CALL',
    functionCall: {
      name: 'sendEmail',
      arguments: { to: mail.to, subject: 'Hello', textBody: 'Hello from the sandbox.' },
    },
  }
  const command = [
    `curl ${url}/mailer/webhook \\`,
    "  -H 'content-type: application/json' \\",
    `  -d '${JSON.stringify(event)}'`,
  ]

  terminal.write('\n')
  if (pageUrl !== undefined) {
    terminal.write(`  ${paint([['bold', `See it, try it, break it: ${pageUrl}`]], terminal)}\n\n`)
  }
  if (webhookSecret) {
    paragraph(
      `The host stays up at ${url}. It takes signed events alone, because PLATFORM_WEBHOOK_SECRET is set; without that variable this would do:`,
    )
  } else {
    const real = [
      mail.emulator ? [] : ['the mail provider'],
      idp.emulator && idpServer.emulator ? [] : ['the identity provider'],
    ].flat()
    paragraph(
      real.length === 0
        ? 'The host stays up. Its providers are emulated: nothing leaves this machine. Call it:'
        : `The host stays up. What you call is what it does, for real at ${real.join(' and ')}. Call it:`,
    )
  }
  terminal.write('\n')
  for (const line of command) terminal.write(`  ${paint([['cyan', line]], terminal)}\n`)
  terminal.write('\n')
  paragraph(`What else it takes: ${url}/integrations and ${url}/openapi.json. Ctrl-C ends it.`)
}
