/** Uses the packages in a test of Jest, as it is configured by default. */
import { join } from 'node:path'
import { complaintsOf } from '../complaints.ts'

export const installs = ['jest@30.5.2']

/** @throws with the output of Jest */
export async function runJest(project: string, tools: string): Promise<void> {
  const complaints = await complaintsOf(process.execPath, [
    join(tools, 'jest/bin/jest.js'),
    '--rootDir',
    project,
  ])
  if (complaints) throw new Error(complaints)
}
