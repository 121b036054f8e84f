import { expect, it } from 'vitest'
import { noticeText } from './recording-notice.ts'

it.each([
  [false, [], ''],
  [true, [], 'You are recording this room.'],
  [false, ['Ada (0x012345)'], 'Ada (0x012345) is recording this room.'],
  [false, ['Ada (0x012345)', 'Ben (0x6789ab)'], 'Ada (0x012345) and Ben (0x6789ab) are recording this room.'],
  [true, ['Ben (0x6789ab)'], 'You and Ben (0x6789ab) are recording this room.'],
])('says who records: %s, %j', (isRecording, others, text) => {
  expect(noticeText(isRecording, others)).toBe(text)
})
