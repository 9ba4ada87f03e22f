"""The memory engine: tape, tiers, compaction, embeddings, retrieval. Knows no vendor and no screen."""
