/** Brings `docs/platform-api.json` up to date. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describePlatformApi } from './document.ts'

const file = join(import.meta.dirname, '../../../docs/platform-api.json')
await writeFile(file, `${JSON.stringify(describePlatformApi(), null, 2)}\n`)
