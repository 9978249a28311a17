import { describeIntegration } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { integration } from '../src/webhook.ts'
import { createFixture } from './fixture.ts'

describeIntegration(integration, createFixture, { describe, expect, it })
