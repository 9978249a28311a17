import workspace from '../package.json' with { type: 'json' }

const page = workspace.repository.url.replaceAll(/^git\+|\.git$/g, '')
const link = (commit) => (commit ? ` ([${commit.slice(0, 7)}](${page}/commit/${commit}))` : '')

/** Writes a line of a changelog for each changeset, with a link to its commit. */
export default {
  async getReleaseLine({ commit, summary }) {
    const [first = '', ...others] = summary.trim().split('\n')
    return [`- ${first}${link(commit)}`, ...others.map((line) => `  ${line}`)].join('\n')
  },
  async getDependencyReleaseLine(_, updated) {
    const names = updated.map(({ name, newVersion }) => `${name}@${newVersion}`)
    return names.length > 0 ? `- Updated ${names.join(', ')}.` : ''
  },
}
