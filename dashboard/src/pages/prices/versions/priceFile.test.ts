import { describe, expect, it } from 'vitest';
import { texts } from '../../../texts';
import { editedFile, fileError } from './priceFile';

const words = texts.prices.editor;

describe('an edit of the prices', () => {
  it('begins with the file in force', () => {
    expect(editedFile('{"providers":["openai"]}', '')).toBe('{\n  "providers": ["openai"]\n}');
  });

  it('adds a model, whose rates are to be filled in', () => {
    expect(editedFile('{"models":{"o3":{"input_mtok":1.10}}}', 'o4')).toBe(
      '{\n  "models": {\n    "o4": { "input_mtok": "…", "output_mtok": "…" },\n    "o3": { "input_mtok": 1.10 }\n  }\n}',
    );
    const named = 'a "b" \\ it’s';
    expect(JSON.parse(editedFile('{}', named)).models).toEqual({
      [named]: { input_mtok: '…', output_mtok: '…' },
    });
  });

  it('leaves a model as it is that has a price', () => {
    expect(JSON.parse(editedFile('{"models":{"o3":{"input_mtok":1}}}', 'o3')).models.o3).toEqual({
      input_mtok: 1,
    });
  });

  it('has an example if there is nothing yet', () => {
    expect(Object.keys(JSON.parse(editedFile('{}', '')).models)).toEqual(['gpt-5.5*']);
  });

  it('is looked at before it is sent', () => {
    expect(fileError('{}')).toBeUndefined();
    expect(fileError('{\n  "models": {,}\n}')).toBe(words.notJsonAt('2'));
    expect(fileError('')).toBe(words.notJson);
  });
});
