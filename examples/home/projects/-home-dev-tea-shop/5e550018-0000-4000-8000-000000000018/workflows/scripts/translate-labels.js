export default async function run({ agent }) {
  for (const language of ['fr', 'de', 'it']) await agent(`Translate the labels to ${language}`)
}
