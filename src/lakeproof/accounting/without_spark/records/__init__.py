"""Records read without Spark, as Spark reads them: files and tables, in bounded memory."""
