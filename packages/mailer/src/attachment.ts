/**
 * Files of a message.
 *
 * @module
 */
import { encodeBase64, fingerprint, isBase64 } from './base64.ts'
import type { Faults } from './faults.ts'
import { isRecord } from './fields.ts'
import { readLine } from './headers.ts'
import type { WireAttachment } from './wire.ts'

/** The pieces of a JSON text: text and ASCII bytes. */
export type Parts = (string | Uint8Array)[]

/** A JSON text that grows. */
export interface Draft {
  parts: Parts
  /** The last piece. */
  text: string
  /** The JSON without the files’ content, to be measured. */
  skeleton: string
  /** The size of the files in base64. */
  base64Bytes: number
}

/**
 * Checks attachments, and appends them as a JSON list. Bytes become pieces of their own.
 *
 * @param maxBytes of all files in base64; those beyond it are only counted
 */
export function appendAttachments(
  faults: Faults,
  draft: Draft,
  { attachments, maxBytes }: { attachments: readonly unknown[]; maxBytes: number },
): void {
  append(draft, '[')
  let separator = ''
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
    } satisfies Record<Exclude<keyof WireAttachment, 'Content'>, unknown>)
    append(draft, `${separator}${head.slice(0, -1)},"Content":"`)
    const file = readContent(content)
    if (typeof file === 'string') faults.add(`${path}.content`, file)
    else {
      draft.base64Bytes += file.base64Bytes
      if (draft.base64Bytes <= maxBytes) insert(draft, file.encode())
    }
    append(draft, '"}')
    separator = ','
  }
  append(draft, ']')
}

function append(draft: Draft, text: string): void {
  draft.text += text
  draft.skeleton += text
}

function insert(draft: Draft, base64: Parts[number]): void {
  if (typeof base64 === 'string') draft.text += base64
  else {
    draft.parts.push(draft.text, base64)
    draft.text = ''
  }
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
  base64Bytes: number
  encode: () => Parts[number]
}

/** @returns the fault if the content is invalid */
function readContent(content: unknown): File | string {
  if (typeof content === 'string') {
    const base64 = /\s/.test(content) ? content.replaceAll(/[\r\n\t ]+/g, '') : content
    return findFault(base64) ?? { base64Bytes: base64.length, encode: () => base64 }
  }
  if (!isBuffer(content)) return 'must be a Blob, a Uint8Array, an ArrayBuffer or a text of base64'
  const bytes = ArrayBuffer.isView(content)
    ? new Uint8Array(content.buffer, content.byteOffset, content.byteLength)
    : new Uint8Array(content)
  if (bytes.length === 0) return 'is empty'
  return { base64Bytes: 4 * Math.ceil(bytes.length / 3), encode: () => encodeOnce(bytes, content) }
}

function findFault(base64: string): string | undefined {
  if (base64 === '') return 'is empty'
  if (isBase64(base64)) return undefined
  if (base64.startsWith('data:')) return 'is a data: URL: pass only the base64 after its comma'
  if (/^[\w-]+=*$/.test(base64)) return 'is not base64: write + and / instead of - and _, and pad it with ='
  return 'is not base64: pass text as new TextEncoder().encode(text)'
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

interface Encoded {
  fingerprint: number
  base64: WeakRef<Uint8Array<ArrayBuffer>>
}

/** Encoded files that are in flight or were just sent. It keeps nothing alive, and some runtimes have no `WeakRef`. */
const encodings = new WeakMap<object, Encoded>()

/** A file that goes with many messages is encoded and held once. A buffer that was filled anew is another file. */
function encodeOnce(bytes: Uint8Array, key: object): Uint8Array<ArrayBuffer> {
  if (typeof WeakRef === 'undefined') return encodeBase64(bytes)
  const known = encodings.get(key)
  const current = fingerprint(bytes)
  const kept = known?.fingerprint === current ? known.base64.deref() : undefined
  if (kept) return kept
  const base64 = encodeBase64(bytes)
  encodings.set(key, { fingerprint: current, base64: new WeakRef(base64) })
  return base64
}
