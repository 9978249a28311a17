/**
 * Files of a message.
 *
 * @module
 */
import { toBase64 } from '@org/core/http'
import { type FileReader, findUnknown, MAX_MESSAGE_BYTES } from './compose.ts'
import { isRecord } from './fields.ts'
import { readLine } from './headers.ts'

/** Ten times as fast as the exact class of characters, which has no `_`. */
const BASE64 = /^[\w+/]*={0,2}$/
const FIELDS = ['name', 'content', 'contentType', 'contentId']
const NO_CONTENT = 'must be a Blob, a Uint8Array, an ArrayBuffer or base64, and must not be empty'
const NO_BASE64 = 'is not base64: pass bytes, such as new TextEncoder().encode(text)'

/** Checks attachments, and puts them into the provider’s format. What is too long for a message is only counted. */
export const readFiles: FileReader = (faults, attachments) => {
  if (!Array.isArray(attachments)) {
    faults.add('attachments', 'must be a list')
    return undefined
  }
  let size = 0
  const files = attachments.map((attachment: unknown, index) => {
    const path = `attachments[${index}]`
    if (!isRecord(attachment)) {
      faults.add(path, 'must be an object with name, content and contentType')
      return {}
    }
    findUnknown(faults, attachment, FIELDS, 'an attachment', `${path}.`)
    const line = (name: string) => readLine(faults, `${path}.${name}`, attachment[name])
    for (const name of ['name', 'contentType'])
      if ((attachment[name] ?? '') === '') faults.add(`${path}.${name}`, 'is required')
    // In HTML, `cid:logo` refers to the file; the provider wants the id in the same form.
    const id = line('contentId')?.replace(/^cid:/, '')
    if (id !== undefined && !/^[^\s<>"]+$/.test(id))
      faults.add(`${path}.contentId`, 'is invalid: expected an id without spaces, quotes and angle brackets')
    const content = contentOf(attachment.content)
    size += content.length
    if (content.length === 0) faults.add(`${path}.content`, NO_CONTENT)
    const base64 = size > MAX_MESSAGE_BYTES || typeof content === 'string' ? content : toBase64(content)
    if (typeof base64 === 'string' && !isBase64(base64)) faults.add(`${path}.content`, NO_BASE64)
    return {
      Name: line('name'),
      ContentType: line('contentType'),
      ContentID: id && `cid:${id}`,
      Content: base64,
    }
  })
  return { files, size }
}

/** Base64 without line breaks, or bytes; empty if there is no content. */
function contentOf(content: unknown): string | Uint8Array {
  if (typeof content === 'string') return content.replaceAll(/[\r\n\t ]+/g, '')
  if (ArrayBuffer.isView(content))
    return new Uint8Array(content.buffer, content.byteOffset, content.byteLength)
  return isArrayBuffer(content) ? new Uint8Array(content) : ''
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && BASE64.test(text) && !text.includes('_')
}

/** Without `instanceof`, because a value may come from another realm. */
function isArrayBuffer(content: unknown): content is ArrayBuffer {
  return tagOf(content) === '[object ArrayBuffer]'
}

/** Whether a value is a Blob or a File. */
export function isBlob(value: unknown): value is Blob {
  return tagOf(value) === '[object Blob]' || tagOf(value) === '[object File]'
}

function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value)
}
