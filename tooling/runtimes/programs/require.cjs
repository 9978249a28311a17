const core = require('@org/core')
const mailer = require('@org/mailer')
const webhook = require('@org/mailer/webhook')
const platformClient = require('@org/platform-client')
const { exercise } = require('./exercise.ts')

const [mailUrl, platformUrl] = process.argv.slice(2)
exercise({ core, mailer, webhook, platformClient }, { mailUrl, platformUrl }).then((outcome) =>
  console.log(JSON.stringify(outcome)),
)
