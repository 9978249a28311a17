/**
 * Files of a message.
 *
 * @module
 */
import { toBase64 } from '@org/core/http'
import { isRecord } from './fields.ts'
import { readLine } from './headers.ts'
import type { Faults } from './mail-error.ts'
import { MAX_MESSAGE_BYTES, type Written } from './writing.ts'

const encoder = new TextEncoder()

/** Checks attachments, and writes them as a JSON list. What is too long for a message is only counted. */
export function writeAttachments(faults: Faults, attachments: unknown): Written | undefined {
  if (!Array.isArray(attachments)) {
    faults.add('attachments', 'must be a list')
    return undefined
  }
  const files: string[] = []
  // The brackets of the list; each file has a comma.
  let bytes = 1
  for (const [index, attachment] of attachments.entries()) {
    const path = `attachments[${index}]`
    if (!isRecord(attachment)) {
      faults.add(path, 'must be an object with name, content and contentType')
      continue
    }
    const { name, contentType, contentId, content } = attachment
    const head = JSON.stringify({
      Name: readRequired(faults, `${path}.name`, name),
      ContentType: readRequired(faults, `${path}.contentType`, contentType),
      ContentID: readContentId(faults, `${path}.contentId`, contentId),
    })
    const file = readContent(content)
    if (typeof file === 'string') {
      faults.add(`${path}.content`, file)
      continue
    }
    const start = `${head.slice(0, -1)},"Content":"`
    bytes += encoder.encode(start).length + file.length + '"},'.length
    if (bytes <= MAX_MESSAGE_BYTES) files.push(`${start}${file.encode()}"}`)
  }
  return { json: `[${files.join()}]`, bytes }
}

function readRequired(faults: Faults, path: string, value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') faults.add(path, 'is required')
  return readLine(faults, path, value)
}

/** In HTML, `cid:logo` refers to the file; the provider wants the id in the same form. */
function readContentId(faults: Faults, path: string, value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string' && /^(?:cid:)?[^\s<>"\p{Cc}]+$/u.test(value))
    return value.startsWith('cid:') ? value : `cid:${value}`
  faults.add(path, 'is invalid: expected an id without spaces, quotes and angle brackets')
  return undefined
}

interface File {
  /** In base64. */
  length: number
  encode: () => string
}

/** @returns the fault if the content is invalid */
function readContent(content: unknown): File | string {
  if (typeof content === 'string') {
    const base64 = /\s/.test(content) ? content.replaceAll(/[\r\n\t ]+/g, '') : content
    return findFault(base64) ?? { length: base64.length, encode: () => base64 }
  }
  if (!isBuffer(content)) return 'must be a Blob, a Uint8Array, an ArrayBuffer or a text of base64'
  const bytes = ArrayBuffer.isView(content)
    ? new Uint8Array(content.buffer, content.byteOffset, content.byteLength)
    : new Uint8Array(content)
  if (bytes.length === 0) return 'is empty'
  return { length: 4 * Math.ceil(bytes.length / 3), encode: () => toBase64(bytes) }
}

function findFault(base64: string): string | undefined {
  if (base64 === '') return 'is empty'
  if (isBase64(base64)) return undefined
  return 'is not base64 with + and /, padded with =: pass bytes, such as new TextEncoder().encode(text)'
}

/** Whether a text is base64 with padding and without line breaks. */
function isBase64(text: string): boolean {
  // Ten times as fast as the exact class of characters, which has no `_`.
  return text.length % 4 === 0 && /^[\w+/]*={0,2}$/.test(text) && !text.includes('_')
}

/** Without `instanceof`, because a value may come from another realm. */
function isBuffer(content: unknown): content is ArrayBuffer | ArrayBufferView {
  return ArrayBuffer.isView(content) || tagOf(content) === '[object ArrayBuffer]'
}

/** Whether a value is a Blob or a File. */
export function isBlob(value: unknown): value is Blob {
  return tagOf(value) === '[object Blob]' || tagOf(value) === '[object File]'
}

function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value)
}
