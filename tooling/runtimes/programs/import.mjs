import * as core from '@org/core'
import * as mailer from '@org/mailer'
import * as webhook from '@org/mailer/webhook'
import * as platformClient from '@org/platform-client'
import { exercise } from './exercise.ts'

const [mailUrl, platformUrl] = process.argv.slice(2)
const outcome = await exercise({ core, mailer, webhook, platformClient }, { mailUrl, platformUrl })
console.log(JSON.stringify(outcome))
