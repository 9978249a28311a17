import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../packages/workspace.ts'

const page = readFileSync(join(root, 'docs/security.md'), 'utf8')
/** The notes of the page by their label: `[^label]: [file](path): “test”, “test”; [file](path): “test”.` */
const notes = new Map(
  Array.from(page.matchAll(/^\[\^(.+?)\]: (.+)$/gm), ([, label, text = '']) => [label, text]),
)

it.each([...notes])('the note “%s” of docs/security.md names tests that exist', (_, text) => {
  const groups = [...text.matchAll(/\]\((.+?)\): (“.+?”)(?=; \[|\.$)/g)]
  expect(groups).not.toEqual([])
  for (const [, file = '', names = ''] of groups) {
    const suite = readFileSync(join(root, 'docs', file), 'utf8')
    for (const [, name] of names.matchAll(/“(.+?)”/g)) expect(suite).toContain(`'${name}'`)
  }
})

it('each control of docs/security.md has a note, and each note a control', () => {
  const controls = page.slice(page.indexOf('## Access'), page.indexOf('## What tenants share'))
  const rows = controls.split('\n').filter((line) => /^\| (?!Attack)/.test(line))
  expect(rows.filter((row) => !/\[\^.+?\] \|$/.test(row))).toEqual([])
  const used = Array.from(page.matchAll(/\[\^([^\]]+?)\](?!:)/g), ([, label]) => label)
  expect(new Set(used)).toEqual(new Set(notes.keys()))
})
