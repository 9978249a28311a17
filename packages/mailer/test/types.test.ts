import { describe, expectTypeOf, it } from 'vitest'
import type * as z from 'zod'
import type { Attachment, MailError, MailErrorCode, Message } from '../src/index.ts'
import type { messageArguments } from '../src/integration.ts'
import type { WireMessage } from '../src/testing/index.ts'

type Head = { to: string; subject: string }
type Contract = z.infer<typeof messageArguments>
type KeysOfUnion<Union> = Union extends unknown ? keyof Union : never
type ContractAttachment = NonNullable<Contract['attachments']>[number]

// The compiler checks these; they do nothing at run time.
describe('the types', () => {
  it('take a message with a body, and none without', () => {
    expectTypeOf<Head & { textBody: string }>().toExtend<Message>()
    expectTypeOf<Head & { htmlBody: () => Promise<string> }>().toExtend<Message>()
    expectTypeOf<Head & { body: Promise<string>; textBody: undefined }>().toExtend<Message>()
    expectTypeOf<Head>().not.toExtend<Message>()
    expectTypeOf<Head & { textBody: undefined }>().not.toExtend<Message>()
    expectTypeOf<{ to: string; textBody: string }>().not.toExtend<Message>()
  })

  it('take addresses as text and in two parts', () => {
    type To = { to: (string | { name: string; address: string })[]; subject: string; textBody: string }
    expectTypeOf<To>().toExtend<Message>()
    expectTypeOf<{ to: { email: string }; subject: string; textBody: string }>().not.toExtend<Message>()
  })

  it('take the content of a file in every form', () => {
    expectTypeOf<string | Uint8Array | Buffer | ArrayBuffer | DataView | Blob>().toExtend<
      Attachment['content']
    >()
    expectTypeOf<number[]>().not.toExtend<Attachment['content']>()
  })

  it('have the same fields in the contract, in a message and in the emulator, but for the key', () => {
    type Fields = Exclude<KeysOfUnion<Message>, 'key'>
    expectTypeOf<keyof Contract>().toEqualTypeOf<Fields>()
    expectTypeOf<keyof WireMessage>().toEqualTypeOf<Capitalize<Exclude<Fields, 'body'>>>()
    expectTypeOf<keyof ContractAttachment>().toEqualTypeOf<keyof Attachment>()
    expectTypeOf<Contract & { textBody: string }>().toExtend<Message>()
  })

  it('give the error of the mailer its own codes', () => {
    expectTypeOf<MailError['code']>().toEqualTypeOf<MailErrorCode>()
    expectTypeOf<'unknown_function'>().not.toExtend<MailErrorCode>()
  })
})
