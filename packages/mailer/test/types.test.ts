import { readFileSync } from 'node:fs'
import { expect, expectTypeOf, it } from 'vitest'
import type * as z from 'zod'
import { fieldNames } from '../src/compose.ts'
import type { MailEvent } from '../src/events.ts'
import type { Attachment, Message } from '../src/index.ts'
import type { messageArguments } from '../src/integration.ts'
import type { WireMessage } from '../src/testing/index.ts'

type Contract = z.infer<typeof messageArguments>
type Fields = Message extends infer Union ? (Union extends unknown ? keyof Union : never) : never

it('has the same fields in the types, the function, the emulator and both documents', () => {
  expectTypeOf<keyof Contract>().toEqualTypeOf<Exclude<Fields, 'key'>>()
  expectTypeOf<keyof WireMessage>().toEqualTypeOf<Capitalize<Exclude<Fields, 'key' | 'body'>>>()
  expectTypeOf<keyof NonNullable<Contract['attachments']>[number]>().toEqualTypeOf<keyof Attachment>()
  expectTypeOf<Contract & { textBody: string }>().toExtend<Message>()
  expectTypeOf<{ to: string; subject: string; textBody: undefined }>().not.toExtend<Message>()
  expectTypeOf<Extract<MailEvent, { type: 'bounce' }>>().toHaveProperty('isInactive')
  for (const document of ['../README.md', '../../../docs/from-postmark.md']) {
    const text = readFileSync(new URL(document, import.meta.url), 'utf8')
    const rows = text.match(/^\| .*`.*\|$/gm)?.join('\n')
    for (const name of fieldNames) expect(rows).toContain(`\`${name}`)
  }
})
